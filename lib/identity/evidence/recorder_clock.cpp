#include "identity/evidence/recorder_clock.h"

#include "base/json_check.h"
#include "event/trace_time.h"
#include "identity/evidence/rounds_json.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

void keep_first(SyncRounds& first, const SyncRounds& later) {
  if (first.empty()) first = later;
}

}  // namespace

void RecorderClock::add(std::string_view name, const Event& event, ProblemCounts& problems) {
  if (name == "clock_sync_rounds") {
    add_rounds(event, problems);
  } else if (name == "clock_pairs") {
    add_pair(event);
  } else if (name == "host" && machine_.empty()) {
    const JsonDocument args(event.text(Key::args));
    const std::string boot = args["boot_id"].string();
    if (!boot.empty()) machine_ = boot + '/' + std::string(args["time_ns"].text());
  } else if (name == "recorder") {
    const auto error_ns = JsonDocument(event.text(Key::args))["clock_error_ns"].integer();
    if (error_ns && is_usable_stamp(*error_ns)) error_ns_ = std::max(error_ns_, *error_ns);
  }
}

void RecorderClock::add_rounds(const Event& event, ProblemCounts& problems) {
  if (!is_strict_json(event.text(Key::args)))
    return problems.add(Problem::bad_rounds, event.offset);
  const JsonDocument args(event.text(Key::args));
  const std::string_view group = args["group"].text();
  const std::optional<SyncRounds> rounds = read_rounds(args.root());
  if (!rounds || (group != "\"start\"" && group != "\"end\""))
    return problems.add(Problem::bad_rounds, event.offset);
  keep_first(group == "\"start\"" ? rounds_.start : rounds_.end, *rounds);
}

// The file's ts is the moment at which CLOCK_MONOTONIC showed `mono`, with an error of half of
// `bracket_ns`.
void RecorderClock::add_pair(const Event& event) {
  const JsonDocument args(event.text(Key::args));
  const std::optional<ParsedTime> ts = parse_time(event.text(Key::ts));
  const auto mono = args["mono"].integer();
  const auto bracket = args["bracket_ns"].integer();
  if (!ts || !mono || !bracket || !is_usable_stamp(ts->rounded_ns()) || !is_usable_stamp(*mono) ||
      *bracket < 0 || !is_usable_stamp(*bracket))
    return;
  if (!opened_ns_) opened_ns_ = ts->rounded_ns();
  const std::int64_t ahead_ns = ts->rounded_ns() - *mono;
  const std::int64_t error_ns = (*bracket + 1) / 2;
  add_range(sum(ClockRange{ahead_ns, ahead_ns}, ClockRange{-error_ns, error_ns}));
}

void RecorderClock::add_range(const std::optional<ClockRange>& ahead) {
  if (ahead) ahead_ = ahead_ ? hull(*ahead_, *ahead) : *ahead;
}

void RecorderClock::append(const RecorderClock& later) {
  keep_first(rounds_.start, later.rounds_.start);
  keep_first(rounds_.end, later.rounds_.end);
  if (machine_.empty()) machine_ = later.machine_;
  if (!opened_ns_) opened_ns_ = later.opened_ns_;
  add_range(later.ahead_);
  error_ns_ = std::max(error_ns_, later.error_ns_);
}

std::optional<MachineClock> RecorderClock::machine() const {
  if (machine_.empty() || !ahead_) return std::nullopt;
  const std::optional<ClockRange> ahead = sum(*ahead_, ClockRange{-error_ns_, error_ns_});
  if (!ahead) return std::nullopt;
  return MachineClock{machine_, *ahead};
}

}  // namespace traceloom
