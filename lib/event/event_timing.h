// When an event happened, and whether it can be used at all: the one rule for merge and statistics,
// so that both keep and drop the same events.
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

// What is known of the end of an X.
enum class SliceEnd : std::uint8_t {
  known,
  missing,  // there is no dur
  never,    // it never ended: its dur is beyond the range of time, see kLongestDurationNs
};

struct EventTiming {
  bool usable = false;   // false: the event has no phase, or needs a ts and has no usable one
  bool timed = false;    // false for metadata (M), whose ts means nothing
  bool rewrite = false;  // ts or dur must be written anew even if nothing is shifted: text in
                         // quotes, an exponent, more than three decimals, missing or negative dur
  bool sub_microsecond = false;  // ts or dur is no whole number of microseconds
  SliceEnd slice_end = SliceEnd::known;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // X only; rounded(ts + dur) - rounded(ts), never negative
};

// 146 years. Torch says of an event that never ended that it ended 2^63 ns before 1970, and its
// dur, from there to the start, turns around to some 237 years; from when a file's times count does
// not matter then.
inline constexpr std::int64_t kLongestDurationNs = std::int64_t{1} << 62;

// Rules: an event without a phase, or (but for M) without a usable ts, is not usable. X without
// dur, with a dur that is no number, or with a negative one counts as dur 0. So does, but as
// SliceEnd::never, one whose dur is longer than kLongestDurationNs or ends beyond int64
// nanoseconds. Each case is counted once in `problems` at the event's offset.
EventTiming time_event(const Event& event, ProblemCounts& problems);
// The same without the duration: duration_ns stays 0 and its problems are not counted. For who only
// asks which events there are and when they begin.
EventTiming time_start(const Event& event, ProblemCounts& problems);

// What a merge adds to an event whose end it had to make up: "unclosed": true to the X of a B that
// is never closed, and these instead of true to an X that has no dur, and to one that never ended.
inline constexpr std::string_view kNoDuration = "\"no dur\"";
inline constexpr std::string_view kNeverEnded = "\"never ended\"";

// True for an X without dur. A merge draws it to the end of its thread, as chrome://tracing does.
bool lacks_duration(const Event& event);
// True for an X of which nobody knows how long it took: one that never ended, or that a merge has
// made of such a one, or of a B without an E. A merge draws them to the end of their file.
bool is_unclosed(const Event& event, const EventTiming& timing);
// The duration that statistics take of an X: that of `timing`, but 0 where a merge has drawn an X
// without dur, and none of what is_unclosed(). What time_event() cannot have counted of these is
// counted.
std::optional<std::int64_t> known_duration(const Event& event, const EventTiming& timing,
                                           ProblemCounts& problems);

// What our recorder adds where a save cuts a slice that goes on: an E at the cut has "cut_id",
// and the X in a later file, which has all of the slice, has it with the same value. A merge
// without that X makes an X of it that has this, and "cut_id".
inline constexpr std::string_view kCutSlice = "\"cut\"";
// True for the part of such a slice that is not all of it: no span, and no loss.
inline bool is_cut_slice(const Event& event) {
  return event.has(Key::cut_id) && (event.phase == 'E' || event.has(Key::unclosed));
}

// True for the phases of the format: B E X i I R C b n e S T p F s t f N O D P M V v c ( ) =
bool is_known_phase(char phase);

}  // namespace traceloom
