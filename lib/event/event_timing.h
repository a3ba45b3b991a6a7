// EventTiming: when an event happened, and whether it can be used at all. Merge and statistics
// share this rule, so that both keep and drop the same events.
//
//   EventTiming timing = time_event(event, problems);
//   if (timing.usable) first = std::min(first, timing.start_ns);
#pragma once

#include "base/problems.h"
#include "event/event.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

// The state of knowledge about the end of an X event.
enum class SliceEnd : std::uint8_t {
  known,
  missing,  // the event has no dur
  never,    // the event never ended: its dur is beyond the range of time, see kLongestDurationNs
};

struct EventTiming {
  bool usable = false;  // false if the event has no phase, or needs a ts and has no usable one
  bool timed = false;   // false for metadata (M), whose ts means nothing
  // ts or dur must be written anew even if nothing is shifted: the text is quoted, has an exponent
  // or more than three decimals, or dur is missing or negative
  bool rewrite = false;
  bool sub_microsecond = false;  // ts or dur is not a whole number of microseconds
  SliceEnd slice_end = SliceEnd::known;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // only for X: rounded(ts + dur) - rounded(ts), never negative
};

// 146 years. For an event that never ended, torch writes an end of 2^63 ns before 1970; its dur,
// from the start to there, wraps around to some 237 years. The base time of the file does not
// matter then.
inline constexpr std::int64_t kLongestDurationNs = std::int64_t{1} << 62;

// Finds the times of an event by these rules:
// - An event without a phase is not usable, and neither is one without a usable ts (but M needs
//   none).
// - X without dur, with a dur that is no number, or with a negative dur counts as dur 0.
// - X whose dur is longer than kLongestDurationNs or ends beyond int64 nanoseconds counts as dur 0,
//   too, and as SliceEnd::never.
//
// `problems` counts each case once, at the event's offset.
EventTiming time_event(const Event& event, ProblemCounts& problems);
// The same without the duration: duration_ns stays 0 and its problems are not counted. It serves
// callers that only ask which events exist and when they begin.
EventTiming time_start(const Event& event, ProblemCounts& problems);

// The value of "unclosed" that a merge adds to an event whose end it had to make up: true for the X
// made of a B that is never closed, and one of these for an X without dur and for one that never
// ended.
inline constexpr std::string_view kNoDuration = "\"no dur\"";
inline constexpr std::string_view kNeverEnded = "\"never ended\"";

// True for an X without dur. A merge draws it to the end of its thread, as chrome://tracing does.
bool lacks_duration(const Event& event);
// True for an X of unknown duration: it never ended, or a merge made it of an event that never
// ended or of a B without an E. A merge draws it to the end of its file.
bool is_unclosed(const Event& event, const EventTiming& timing);
// Returns the duration of an X for statistics: that of `timing`, but 0 if a merge has drawn an X
// without dur, and none if is_unclosed(). It counts the problems of these events that time_event()
// cannot have counted.
std::optional<std::int64_t> known_duration(const Event& event, const EventTiming& timing,
                                           ProblemCounts& problems);

// The value of "unclosed" in a part of a cut slice. If a save cuts a slice that goes on, our
// recorder writes an E with "cut_id" at the cut; the X in a later file, which holds the whole
// slice, has the same "cut_id". A merge without that X turns the B and E into an X with this value
// and the "cut_id".
inline constexpr std::string_view kCutSlice = "\"cut\"";
// True for such a part of a slice: it is no span, and no loss.
inline bool is_cut_slice(const Event& event) {
  return event.has(Key::cut_id) && (event.phase == 'E' || event.has(Key::unclosed));
}

// True for the phases of the format: B E X i I R C b n e S T p F s t f N O D P M V v c ( ) =
bool is_known_phase(char phase);

}  // namespace traceloom
