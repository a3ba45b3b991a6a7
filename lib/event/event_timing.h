// The times of events: exact nanoseconds from decimal text, and which events have times that
// count.
#pragma once

#include "base/problems.h"
#include "event/event.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// Time as int64 nanoseconds, to and from the microsecond text of traces, never through a double.
//
//   ParsedTime start = *parse_time("1712195495406752.812");
//   // start.floor_ns == 1712195495406752812
//   std::string text;
//   append_microseconds(text, 1500);   // "1.5"

// An exact decimal time: floor_ns + atto / 10^18 nanoseconds. Digits after the 18th below the
// nanosecond are cut; no producer writes a trace in which those would change a rounded nanosecond.
// The results of parse_time() and add() lie in [-2^63, 2^63 - 1] ns, so that rounding cannot
// overflow.
struct ParsedTime {
  std::int64_t floor_ns = 0;
  std::uint64_t atto = 0;  // [0, 10^18)
  bool is_plain = false;  // the text was digits, a point and at most three decimals, as we write it

  // Rounds half up, so that rounding is monotone: nesting and adjacency of spans survive it.
  std::int64_t rounded_ns() const { return floor_ns + (atto >= 500'000'000'000'000'000U ? 1 : 0); }
  // True if the text has nonzero digits below the nanosecond.
  bool is_fractional() const { return atto != 0; }

  friend bool operator==(const ParsedTime& a, const ParsedTime& b) {
    return a.floor_ns == b.floor_ns && a.atto == b.atto;
  }
  friend std::strong_ordering operator<=>(const ParsedTime& a, const ParsedTime& b) {
    if (a.floor_ns != b.floor_ns) return a.floor_ns <=> b.floor_ns;
    return a.atto <=> b.atto;
  }
};

// Returns the exact sum, or nullopt if it does not fit int64 nanoseconds.
std::optional<ParsedTime> add(const ParsedTime& a, const ParsedTime& b);

// Reads the text of a JSON value that holds microseconds: a number in any JSON form (12, 12.345,
// 1.5e3, -0.0), the same inside quotes (torch_npu), or the broken negatives of Kineto ("0.-66" is
// -0.066, "-12.-345" is -12.345). nullopt for anything else (null, NaN, "abc", 0x10, +5) and for
// values outside [-2^63, 2^63 - 1] ns. About 10 ns for the usual 16 digits.
std::optional<ParsedTime> parse_time(std::string_view json_value);

// True for a number that is too large for microseconds, but as nanoseconds since 1970 it is a time
// from 1973 to 2286.
bool is_nanoseconds(std::string_view json_value);

// Returns whether the number is below 0 (-0 is), or nullopt if the text is no number. It reads
// numbers like parse_time(), but also those beyond int64 nanoseconds.
std::optional<bool> is_negative_number(std::string_view json_value);

// The usual case of parse_time() by itself: a sign, up to 16 digits, a point and up to three
// decimals. Returns false and leaves `ns` unchanged for any other text.
bool parse_plain_time(std::string_view json_value, std::int64_t& ns);

// Appends nanoseconds as microsecond text: at most three decimals, no trailing zeros, no exponent.
void append_microseconds(std::string& out, std::int64_t ns);
// The same into a buffer of at least 24 bytes; returns the end.
char* write_microseconds(char* out, std::int64_t ns);
// Writes all eight digits of a number below 10^8, with leading zeros; returns the end.
char* write_eight_digits(char* out, std::uint32_t number);

// EventTiming: when an event happened, and whether it can be used at all. Merge and statistics
// share this rule, so that both keep and drop the same events.
//
//   EventTiming timing = time_event(event, problems);
//   if (timing.usable) first = std::min(first, timing.start_ns);

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
