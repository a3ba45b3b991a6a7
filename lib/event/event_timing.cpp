#include "event/event_timing.h"

#include "event/trace_time.h"

#include <array>
#include <optional>

namespace traceloom {
namespace {

// True for numbers as the output writes them: no quotes, no exponent, at most three decimals.
bool is_plain_number(std::string_view text) {
  std::size_t decimals = 0;
  bool behind_point = false;
  for (std::size_t i = text.front() == '-' ? 1 : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      behind_point = true;
    } else if (c < '0' || c > '9') {
      return false;
    } else if (behind_point && ++decimals > 3) {
      return false;
    }
  }
  return true;
}

constexpr std::array<bool, 256> kKnownPhases = [] {
  std::array<bool, 256> known{};
  for (const char phase : std::string_view("BEXiIRCbneSTpFstfNODPMVvc()="))
    known[static_cast<unsigned char>(phase)] = true;
  return known;
}();

bool is_whole_microsecond(std::int64_t ns) {
  return ns % 1000 == 0;
}

// The duration of an X event that starts at `start`.
void time_duration(const Event& event, const ParsedTime& start, EventTiming& timing,
                   ProblemCounts& problems) {
  const std::string_view text = event.text(Key::dur);
  if (text.empty() || text == "null") {
    problems.add(Problem::missing_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  if (std::int64_t ns = 0, sum = 0; start.atto == 0 && parse_plain_time(text, ns) &&
                                    !__builtin_add_overflow(start.floor_ns, ns, &sum)) {
    timing.duration_ns = ns;
    return;
  }
  const std::optional<ParsedTime> duration = parse_time(text);
  const std::optional<ParsedTime> end = duration ? add(start, *duration) : std::nullopt;
  if (!end) {
    problems.add(Problem::bad_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  if (duration->floor_ns < 0) {
    problems.add(Problem::negative_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  timing.duration_ns = end->rounded_ns() - start.rounded_ns();
  timing.rewrite |= start.is_fractional() || duration->is_fractional() || !is_plain_number(text);
}

}  // namespace

bool is_known_phase(char phase) {
  return kKnownPhases[static_cast<unsigned char>(phase)];
}

EventTiming time_event(const Event& event, ProblemCounts& problems) {
  EventTiming timing;
  if (event.phase == 0) {
    problems.add(Problem::no_phase, event.offset);
    return timing;
  }
  if (event.phase == 'M') {
    timing.usable = true;
    return timing;
  }
  const std::string_view text = event.text(Key::ts);
  ParsedTime start;
  if (!parse_plain_time(text, start.floor_ns)) {
    const std::optional<ParsedTime> parsed = parse_time(text);
    if (!parsed) {
      problems.add(Problem::bad_timestamp, event.offset);
      return timing;
    }
    start = *parsed;
    timing.rewrite = start.is_fractional() || !is_plain_number(text);
  }
  if (!is_known_phase(event.phase)) problems.add(Problem::unknown_phase, event.offset);
  timing.usable = timing.timed = true;
  timing.start_ns = start.rounded_ns();
  if (event.phase == 'X') time_duration(event, start, timing, problems);
  timing.sub_microsecond =
      !is_whole_microsecond(timing.start_ns) || !is_whole_microsecond(timing.duration_ns);
  return timing;
}

}  // namespace traceloom
