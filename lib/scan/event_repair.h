// Rewrites an event whose text cannot be copied as it is into one that means the same in strict
// JSON.
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

// Exactly is_strict_json(event.raw), no key of enum Key stands twice or is written with escapes,
// and none stands twice in args; false at times for what needs no repair otherwise. Looks closely
// only where the scanner's flags or values ask for it. `event` must come from EventScanner.
bool is_clean_event(const Event& event);

// Strict JSON text of one object, on one line and without white space. Takes what the field writes:
//   strings   decoded and written anew: control characters escaped, bad escapes kept as backslash
//             and character, surrogate pairs joined, half ones and ill-formed UTF-8 as U+FFFD
//   values    NaN, Infinity, 0x10, 01, words, Kineto's 0.-66 ... become strings
//   keys      written without escapes; of a key of enum Key, or of args, that stands twice the
//             last one stays, as in JavaScript (Perfetto would show both)
//   commas    before a closing brace or bracket left out
//   args and other nested values that cannot be understood, or would nest the event deeper than
//             kMaxJsonDepth, become {"unparsed": "their text"}
// Every kind of repair is counted once per event in `problems` (control_character, bad_escape,
// invalid_utf8, not_json_value, broken_negative, duplicate_key, trailing_comma, bad_args) at the
// event's offset;
// what is wrong inside an unparsed value is not counted on top. A surrogate pair, or a key with
// escapes, is legal JSON and not counted; half a pair is a bad_escape.
// `event` must come from EventScanner.
std::string repair_event(const Event& event, ProblemCounts& problems);

// The same for one value, as it stands in args or beside the events: strict JSON, or nullopt when
// it cannot be understood or nests too deep.
std::optional<std::string> repair_value(std::string_view value);
// `value` itself when it is strict JSON without a key that stands twice, or its repair, kept in
// `scratch`; empty when there is none. Of the args of an event this is what will be written.
std::string_view strict_value(std::string_view value, std::string& scratch);
// With the repairs counted in `problems` at `offset`.
std::optional<std::string> repair_value(std::string_view value, std::uint64_t offset,
                                        ProblemCounts& problems);

}  // namespace traceloom
