// is_clean_event, repair_event: find events whose text is not strict JSON, and rewrite them into
// strict JSON with the same meaning.
//
//   const std::string text = is_clean_event(event) ? std::string(event.raw)
//                                                  : repair_event(event, problems);
#pragma once

#include "base/problems.h"
#include "event/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// True only if is_strict_json(event.raw) and no key of enum Key stands twice or is written with
// escapes, and no key of args stands twice. It may return false for an event that needs no repair.
// It checks closely only where the scanner's flags or the values require it. `event` must come from
// EventScanner.
bool is_clean_event(const Event& event);

// Returns the event as strict JSON text on one line without white space. It repairs:
//   strings   decoded and written anew: control characters escaped, bad escapes kept as backslash
//             and character, surrogate pairs joined, half ones and ill-formed UTF-8 as U+FFFD
//   values    NaN, Infinity, 0x10, 01, words, Kineto's 0.-66 ... become strings
//   keys      written without escapes; of a key of enum Key, or of args, that stands twice the
//             last one stays, as in JavaScript (Perfetto would show both)
//   commas    before a closing brace or bracket left out
//   args and other nested values that cannot be understood, or would nest the event deeper than
//             kMaxJsonDepth, become {"unparsed": "their text"}
// Each kind of repair is counted once an event in `problems` (control_character, bad_escape,
// invalid_utf8, not_json_value, broken_negative, duplicate_key, trailing_comma, bad_args) at the
// event's offset. Faults inside an unparsed value are not counted in addition. A surrogate pair and
// a key with escapes are legal JSON and not counted; half a pair is a bad_escape. `event` must come
// from EventScanner.
std::string repair_event(const Event& event, ProblemCounts& problems);

// The same for one value, as it stands in args or outside the event list: strict JSON, or nullopt
// if it cannot be understood or nests too deep.
std::optional<std::string> repair_value(std::string_view value);
// Returns `value` itself if it is strict JSON without repeated keys, otherwise its repair, stored
// in `scratch`; empty if there is no repair. For the args of an event, this is the text that is
// written.
std::string_view strict_value(std::string_view value, std::string& scratch);
// The same as repair_value(value); the repairs are counted in `problems` at `offset`.
std::optional<std::string> repair_value(std::string_view value, std::uint64_t offset,
                                        ProblemCounts& problems);

}  // namespace traceloom
