#include "event/event_timing.h"

#include "event/trace_time.h"

#include <array>
#include <optional>
#include <string_view>

namespace traceloom {
namespace {

bool is_whole_microsecond(std::int64_t ns) {
  return ns % 1000 == 0;
}

bool is_missing(std::string_view duration) {
  return duration.empty() || duration == "null";
}

// True also for a negative duration.
bool is_too_long(std::int64_t duration_ns) {
  return static_cast<std::uint64_t>(duration_ns) > std::uint64_t{kLongestDurationNs};
}

// Finds the duration of an X event that starts at `start`.
void time_duration(const Event& event, const ParsedTime& start, EventTiming& timing,
                   ProblemCounts& problems) {
  const std::string_view text = event.text(Key::dur);
  if (is_missing(text)) {
    problems.add(Problem::missing_duration, event.offset);
    timing.rewrite = true;
    timing.slice_end = SliceEnd::missing;
    return;
  }
  const std::optional<ParsedTime> duration = parse_time(text);
  const std::optional<bool> negative =
      duration ? std::optional(duration->floor_ns < 0) : is_negative_number(text);
  if (!negative) {
    problems.add(Problem::bad_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  if (*negative) {
    problems.add(Problem::negative_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  const std::optional<ParsedTime> end = duration ? add(start, *duration) : std::nullopt;
  if (!end || is_too_long(duration->floor_ns)) {
    problems.add(Problem::never_ended, event.offset);
    timing.rewrite = true;
    timing.slice_end = SliceEnd::never;
    return;
  }
  timing.duration_ns = end->rounded_ns() - start.rounded_ns();
  timing.rewrite |= start.is_fractional() || !duration->is_plain;
}

}  // namespace

bool lacks_duration(const Event& event) {
  return event.phase == 'X' && is_missing(event.text(Key::dur));
}

bool is_unclosed(const Event& event, const EventTiming& timing) {
  if (event.phase != 'X') return false;
  return timing.slice_end == SliceEnd::never ||
         (event.has(Key::unclosed) && event.text(Key::unclosed) != kNoDuration);
}

std::optional<std::int64_t> known_duration(const Event& event, const EventTiming& timing,
                                           ProblemCounts& problems) {
  if (timing.slice_end == SliceEnd::never) return std::nullopt;
  if (!event.has(Key::unclosed)) return timing.duration_ns;
  const std::string_view unclosed = event.text(Key::unclosed);
  if (unclosed == kNoDuration) {
    problems.add(Problem::missing_duration, event.offset);
    return 0;
  }
  if (!is_cut_slice(event))
    problems.add(unclosed == kNeverEnded ? Problem::never_ended : Problem::begin_without_end,
                 event.offset);
  return std::nullopt;
}

bool is_known_phase(char phase) {
  static constexpr std::array<bool, 256> kKnown = [] {
    std::array<bool, 256> known{};
    for (const char c : std::string_view("BEXiIRCbneSTpFstfNODPMVvc()="))
      known[static_cast<unsigned char>(c)] = true;
    return known;
  }();
  return kKnown[static_cast<unsigned char>(phase)];
}

namespace {

// Returns false, and leaves nothing valid in `timing`, if the event needs the exact path.
bool time_usual_event(const Event& event, EventTiming& timing) {
  if (event.phase == 'M' || !is_known_phase(event.phase) ||
      !parse_plain_time(event.text(Key::ts), timing.start_ns))
    return false;
  std::int64_t end_ns = 0;
  if (event.phase == 'X' && (!parse_plain_time(event.text(Key::dur), timing.duration_ns) ||
                             is_too_long(timing.duration_ns) ||
                             __builtin_add_overflow(timing.start_ns, timing.duration_ns, &end_ns)))
    return false;
  timing.usable = timing.timed = true;
  timing.sub_microsecond =
      !is_whole_microsecond(timing.start_ns) || !is_whole_microsecond(timing.duration_ns);
  return true;
}

// Returns what time_start() returns, and the exact start in `start`.
EventTiming time_start_exactly(const Event& event, ProblemCounts& problems, ParsedTime& start) {
  EventTiming timing;
  if (event.phase == 0) {
    problems.add(Problem::no_phase, event.offset);
    return timing;
  }
  if (event.phase == 'M') {
    timing.usable = true;
    return timing;
  }
  const std::optional<ParsedTime> parsed = parse_time(event.text(Key::ts));
  if (!parsed) {
    problems.add(Problem::bad_timestamp, event.offset);
    return timing;
  }
  if (!is_known_phase(event.phase)) problems.add(Problem::unknown_phase, event.offset);
  start = *parsed;
  timing.usable = timing.timed = true;
  timing.start_ns = start.rounded_ns();
  timing.rewrite = !start.is_plain;
  timing.sub_microsecond = !is_whole_microsecond(timing.start_ns);
  return timing;
}

EventTiming time_exactly(const Event& event, ProblemCounts& problems) {
  ParsedTime start;
  EventTiming timing = time_start_exactly(event, problems, start);
  if (!timing.timed || event.phase != 'X') return timing;
  time_duration(event, start, timing, problems);
  timing.sub_microsecond |= !is_whole_microsecond(timing.duration_ns);
  return timing;
}

}  // namespace

EventTiming time_start(const Event& event, ProblemCounts& problems) {
  ParsedTime start;
  return time_start_exactly(event, problems, start);
}

EventTiming time_event(const Event& event, ProblemCounts& problems) {
  // Nearly all events have a known phase and plain times; they need no exact addition and no
  // rounding. Both paths fill one variable, so that it is built in the caller's place and never
  // copied.
  EventTiming timing;
  if (!time_usual_event(event, timing)) timing = time_exactly(event, problems);
  return timing;
}

}  // namespace traceloom
