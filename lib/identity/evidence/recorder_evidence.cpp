#include "identity/evidence/recorder_evidence.h"

#include "base/json_string.h"
#include "event/event_timing.h"
#include "identity/evidence/file_reading.h"
#include "identity/evidence/merge_notes.h"
#include "json/json_document.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

namespace traceloom {

std::set<Stamp> stamps_of(const FileEvidence& evidence, std::optional<std::int64_t> rank) {
  using Thread = std::pair<std::string_view, std::string_view>;
  std::map<Thread, std::vector<std::int64_t>> syncs;
  for (const Mark& mark : evidence.rank_marks)
    if (!rank || mark.value == *rank) syncs[{mark.pid, mark.tid}];
  for (const Mark& sync : evidence.syncs)
    if (const auto thread = syncs.find({sync.pid, sync.tid}); thread != syncs.end())
      thread->second.push_back(sync.value);
  std::set<Stamp> stamps;
  for (const Mark& mark : evidence.rank_marks) {
    if (rank && mark.value != *rank) continue;
    const std::vector<std::int64_t>& of_thread = syncs.at({mark.pid, mark.tid});
    if (of_thread.empty()) stamps.insert({mark.value, mark.tid, std::nullopt});
    for (const std::int64_t sync_us : of_thread) {
      if (stamps.size() >= DistinctMarks::kMaxMarks) return stamps;
      stamps.insert({mark.value, mark.tid, sync_us});
    }
  }
  return stamps;
}

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

namespace {

std::uint64_t count_of(JsonValue value) {
  const std::optional<std::int64_t> number = value.integer();
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

// The text goes to terminals, and a file may hold any text, so only plain ASCII is accepted.
bool is_plain(const std::string& text) {
  constexpr std::size_t kMostOfText = 100;
  return text.size() <= kMostOfText &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// `error` is the system's message, in the language of the recorder's system.
std::string next_step(const std::string& error) {
  constexpr std::array kNoRoom{ENOSPC, EDQUOT};
  const bool has_no_room = std::ranges::any_of(
      kNoRoom, [&](int number) { return error == std::generic_category().message(number); });
  return has_no_room ? "; free the disk" : "";
}

}  // namespace

void add_recorder_losses(const Event& event, ProblemCounts& problems) {
  const JsonDocument args(event.text(Key::args));
  const std::string error = args["error"].string();
  const std::uint64_t lost = count_of(args["lost"]);
  // A `recorder` event without a loss of our own may come from another profiler, or may be about
  // clocks.
  problems.add(Problem::events_lost, event.offset,
               error.empty() ? lost : std::max<std::uint64_t>(lost, 1));
  if (!error.empty() && is_plain(error))
    problems.explain(Problem::events_lost, error + next_step(error));
  if (args["when_full"].string() != "ring")
    problems.add(Problem::events_dropped, event.offset, count_of(args["dropped"]));
  problems.add(Problem::events_unnamed, event.offset, count_of(args["unnamed"]));
  problems.add(Problem::events_damaged, event.offset, count_of(args["damaged"]));
}

bool reports_losses(const Event& event) {
  ProblemCounts problems;
  add_recorder_losses(event, problems);
  return !problems.empty();
}

}  // namespace traceloom
