#include "identity/clocks/clock_plan.h"

#include "base/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace traceloom {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kDayNs = 24 * kHourNs;
// The year 2116: sums of hints and times are far from an overflow.
constexpr std::int64_t kLastHintNs = std::int64_t{1} << 62;

// A process keeps its first base: its times go on beyond the end of the unit.
constexpr std::int64_t kLongestNs = 2 * kTorchBaseUnitNs;

// A range of Unix time in which a file's events should lie.
struct Hint {
  LostBase::By by;
  std::int64_t first_ns;
  std::int64_t last_ns;
  std::int64_t tolerance_ns;
};

std::optional<std::int64_t> unix_sync(const FileEvidence& evidence) {
  const std::optional<std::int64_t> us = evidence.sync_us();
  const std::optional<std::int64_t> ns = us ? us_to_ns(*us) : std::nullopt;
  return ns && is_unix_time(*ns) ? ns : std::nullopt;
}

// Chooses the whole number of units that brings the end of `relative` nearest to the end of the
// hint. It uses the ends because both belong to the moment at which the profiler stopped, while a
// first time may be a stray 0.
std::optional<LostBase> base_for(const StartTimes::Range& relative, const Hint& hint) {
  if (relative.last > kLongestNs || relative.last < -kDayNs) return std::nullopt;
  if (hint.last_ns > kLastHintNs) return std::nullopt;
  const std::int64_t distance = hint.last_ns - relative.last + kTorchBaseUnitNs / 2;
  const std::int64_t units = distance / kTorchBaseUnitNs;
  const std::int64_t base_ns = units * kTorchBaseUnitNs;
  const bool is_near = base_ns + relative.last >= hint.first_ns - hint.tolerance_ns &&
                       base_ns + relative.first <= hint.last_ns + hint.tolerance_ns;
  if (!is_near) return std::nullopt;
  return LostBase{hint.by, base_ns, units};
}

// Returns the range of the events of a file that knows its time.
std::optional<Hint> hint_of(const FileReading& file) {
  const StartTimes::Range& relative = file.starts.relative();
  const StartTimes::Range& unix_time = file.starts.unix_time();
  constexpr LostBase::By kBy = LostBase::By::other_files;
  if (!unix_time.empty()) return Hint{kBy, unix_time.first, unix_time.last, kDayNs};
  const std::optional<std::int64_t> base_ns = file.evidence.base_ns;
  Hint hint{kBy, 0, 0, kDayNs};
  if (relative.empty() || !base_ns || !is_unix_time(*base_ns) ||
      __builtin_add_overflow(relative.first, *base_ns, &hint.first_ns) ||
      __builtin_add_overflow(relative.last, *base_ns, &hint.last_ns))
    return std::nullopt;
  return hint;
}

bool lacks_base(const FileReading& file) {
  const FileEvidence& evidence = file.evidence;
  return !evidence.base_ns && !evidence.was_merged_by_us() && !file.starts.relative().empty() &&
         (evidence.is_torch || !evidence.rank_marks.empty());
}

// Finds the base with the file's own evidence.
std::optional<LostBase> own_base(const FileReading& file) {
  const StartTimes::Range& relative = file.starts.relative();
  const StartTimes::Range& unix_time = file.starts.unix_time();
  const bool is_composer = !file.evidence.rank_marks.empty();
  const std::optional<std::int64_t> sync_ns = unix_sync(file.evidence);
  if (unix_time.empty()) {
    if (!sync_ns) return std::nullopt;
    return base_for(relative, {LostBase::By::own_sync, *sync_ns, *sync_ns, kDayNs});
  }
  // In files of other tools an event with a small time is broken and does not come from torch.
  if (!is_composer) return std::nullopt;
  if (const std::optional<LostBase> base =
          base_for(relative, {LostBase::By::own_events, unix_time.first, unix_time.last, kHourNs}))
    return base;
  LostBase guess{LostBase::By::guess, 0, 0};
  if (__builtin_sub_overflow(sync_ns.value_or(unix_time.first), relative.first, &guess.base_ns))
    return std::nullopt;
  return guess;
}

// Guesses the base of torch's own file next to Composer's, which holds copies of its events: the
// last events of both are at the same time. A first event is not used because it may be a stray 0.
std::optional<LostBase> guessed_for_rank(const FileReading& file,
                                         const std::vector<InputReading>& files,
                                         const std::vector<std::size_t>& of_rank,
                                         const std::vector<std::optional<LostBase>>& bases) {
  const StartTimes::Range& own = file.starts.relative();
  if (file.evidence.base_ns || file.evidence.was_merged_by_us() || own.empty() ||
      !file.starts.unix_time().empty())
    return std::nullopt;
  for (const std::size_t i : of_rank) {
    if (!bases[i] || bases[i]->by != LostBase::By::guess) continue;
    const StartTimes::Range& other = files[i].reading.starts.relative();
    if (own.last == other.last && own.first >= other.first) return bases[i];
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const LostBase& base) {
  if (base.by == LostBase::By::guess) return "";
  const std::string number = fmt::format("{} s ({} x {} s)", base.base_ns / 1'000'000'000,
                                         base.units, kTorchBaseUnitNs / 1'000'000'000);
  const std::string_view by = base.by == LostBase::By::own_events
                                  ? "the Unix times of the same file"
                              : base.by == LostBase::By::own_sync ? "its clock sync"
                                                                  : "the times of another file";
  return fmt::format("{}, by {}", number, by);
}

std::vector<std::optional<LostBase>> find_lost_bases(const std::vector<InputReading>& files,
                                                     const std::vector<FileRank>& ranks) {
  std::vector<std::optional<LostBase>> bases;
  std::vector<Hint> hints;
  std::map<std::int64_t, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (const std::optional<Hint> hint = hint_of(files[i].reading)) hints.push_back(*hint);
    of_rank[ranks[i].rank].push_back(i);
  }
  for (const auto& [input, file] : files) {
    std::optional<LostBase>& base = bases.emplace_back();
    if (!lacks_base(file)) continue;
    base = own_base(file);
    if (!file.starts.unix_time().empty()) continue;
    for (auto hint = hints.begin(); !base && hint != hints.end(); ++hint)
      base = base_for(file.starts.relative(), *hint);
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!bases[i])
      bases[i] = guessed_for_rank(files[i].reading, files, of_rank[ranks[i].rank], bases);
  return bases;
}

namespace {

std::optional<std::int64_t> error_bound_of(const FileEvidence& evidence) {
  if (evidence.error_bounds.empty() || evidence.error_bounds.front().value < 0) return std::nullopt;
  return evidence.error_bounds.front().value;
}

void place_relative_times(ClockFacts& file, const LostBase& base, const StartTimes& starts) {
  if (!starts.is_mixed()) {
    file.base_ns = base.base_ns;
    return;
  }
  file.first_ns = starts.unix_time().first;
  file.last_ns = starts.unix_time().last;
  file.relative_base_ns = base.base_ns;
}

// Returns the sync events of a file. In a file with mixed times, all are on the clock of its Unix
// times.
std::vector<SyncEvent> sync_events_of(const FileEvidence& evidence, const ClockFacts& file) {
  std::vector<SyncEvent> events = evidence.sync_marks.events();
  if (file.relative_base_ns)
    for (SyncEvent& event : events)
      event.moment_ns = TimeMap(*file.relative_base_ns, 0).mapped_or_same(event.moment_ns);
  return events;
}

// The times are put on the clock of the file's base, like a sync.
void add_recorder_clock(ClockFacts& file, const RecorderClock& recorder) {
  const std::int64_t base_ns = file.base_ns.value_or(0);
  const auto moved = [base_ns](const SyncRounds& rounds) {
    return on_machine(rounds, {-base_ns, -base_ns}).value_or(SyncRounds{});
  };
  file.rounds = {moved(recorder.rounds().start), moved(recorder.rounds().end)};
  file.machine = recorder.machine();
  if (!file.machine || base_ns == 0) return;
  const std::optional<ClockRange> ahead = sum(file.machine->ahead, ClockRange{base_ns, base_ns});
  if (ahead)
    file.machine->ahead = *ahead;
  else
    file.machine.reset();
}

void count_lost_base(const LostBase& base, ProblemCounts& problems) {
  const Problem problem =
      base.by == LostBase::By::guess ? Problem::base_guessed : Problem::base_restored;
  problems.add(problem, 0, 1, to_string(base));
}

// The least time that can be counted from an origin: with a lower one, the difference would be
// 2^63.
constexpr std::int64_t kLeastNs = std::numeric_limits<std::int64_t>::min() + 1000;

// The times of one kind (Unix or relative) in a file, on the common clock.
struct Stretch {
  std::size_t file;
  bool is_unix;
  CommonTimes times;
  std::uint64_t events;
};

std::vector<Stretch> stretches_of(const std::vector<StartTimes>& starts,
                                  const std::vector<FileClock>& clocks) {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < starts.size(); ++i)
    for (const bool is_unix : {false, true}) {
      const StartTimes::Range range = is_unix ? starts[i].unix_time() : starts[i].relative();
      if (range.empty()) continue;
      Stretch stretch{i, is_unix, {}, range.events};
      clocks[i].times.for_each_bound(range.first, range.last, [&](std::int64_t ns) {
        std::int64_t common_ns = 0;
        if (clocks[i].times.map(std::max(ns, kLeastNs), common_ns)) stretch.times.add(common_ns);
      });
      if (stretch.times != CommonTimes{}) stretches.push_back(stretch);
    }
  std::ranges::stable_sort(stretches, {}, [](const Stretch& one) { return one.times.first_ns; });
  return stretches;
}

// True if the stretch is on the time line that begins at `first_ns`.
bool is_on_line(const Stretch& stretch, std::int64_t first_ns) {
  return stretch.times.first_ns >= first_ns &&
         stretch.times.last_ns <= saturating_add(first_ns, kTimeLineNs);
}

// Returns the begin of the time line with the most events. What is longer than a line is on none.
std::int64_t begin_of_most(std::vector<Stretch> stretches) {
  std::erase_if(stretches, [](const Stretch& one) { return !is_on_line(one, one.times.first_ns); });
  std::vector<Stretch> by_end = stretches;
  std::ranges::sort(by_end, {}, [](const Stretch& one) { return one.times.last_ns; });
  auto end = by_end.begin();
  std::int64_t best_ns = 0;
  std::uint64_t most_events = 0;
  std::uint64_t events = 0;  // those that end on the line of `first`, less those that begin before
  for (const Stretch& first : stretches) {
    const std::int64_t last_ns = saturating_add(first.times.first_ns, kTimeLineNs);
    for (; end != by_end.end() && end->times.last_ns <= last_ns; ++end) events += end->events;
    if (events > most_events) best_ns = first.times.first_ns;
    most_events = std::max(events, most_events);
    events -= first.events;
  }
  return best_ns;
}

// Drops times that fit no time line: first within each file, then across all files. The time line
// with the most events stays.
void limit_times(const std::vector<StartTimes>& starts, std::vector<FileClock>& clocks) {
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const StartTimes::Range limits = starts[i].limits();
    clocks[i].times.limit_to(std::max(limits.first, kLeastNs), limits.last);
  }
  const std::vector<Stretch> stretches = stretches_of(starts, clocks);
  const auto is_on_first = [&](const Stretch& one) {
    return is_on_line(one, stretches.front().times.first_ns);
  };
  if (std::ranges::all_of(stretches, is_on_first)) return;
  const std::int64_t first_ns = begin_of_most(stretches);
  using Limits = std::numeric_limits<std::int64_t>;
  for (const Stretch& one : stretches) {
    if (is_on_line(one, first_ns)) continue;
    TimeMap& times = clocks[one.file].times;
    if (one.is_unix)
      times.limit_to(Limits::min(), kFirstUnixNs - 1);
    else
      times.limit_to(kFirstUnixNs, Limits::max());
  }
}

// Aligns each cycle of a merged file like a file of its own.
void align_parts(const std::vector<InputReading>& files, const ClockOptions& options,
                 ClockPlan& plan) {
  std::vector<ClockFacts> parts;
  std::vector<StartTimes> starts_of_parts;
  std::vector<std::size_t> ends;  // end of the parts of each file
  for (std::size_t i = 0; i < plan.facts.size(); ++i) {
    const FileReading& reading = files[i].reading;
    for (FilePart& part : parts_of(plan.facts[i], reading.starts, reading.evidence.cycles)) {
      parts.push_back(std::move(part.facts));
      starts_of_parts.push_back(part.starts);
    }
    ends.push_back(parts.size());
  }
  const std::vector<FileClock> clocks = align(parts, options);
  plan.cycles = find_cycles(parts, clocks, starts_of_parts);
  auto begin = clocks.begin();
  for (std::size_t i = 0; i < plan.facts.size(); ++i) {
    const auto end = clocks.begin() + static_cast<std::ptrdiff_t>(ends[i]);
    plan.clocks.push_back(
        join_parts(plan.facts[i], files[i].reading.evidence.cycles, {begin, end}));
    begin = end;
  }
}

}  // namespace

ClockPlan plan_clocks(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
                      const ClockOptions& options) {
  const std::vector<std::optional<LostBase>> bases = find_lost_bases(files, ranks);
  ClockPlan plan;
  std::vector<StartTimes> all_starts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileEvidence& evidence = files[i].reading.evidence;
    const StartTimes& starts = all_starts.emplace_back(files[i].reading.starts);
    ClockFacts file;
    file.rank = ranks[i].rank;
    file.base_ns = evidence.base_ns;
    // A stray 0 among Unix times is broken and proves nothing about the clock.
    const StartTimes::Range& unix_time = starts.unix_time();
    const bool takes_all = file.base_ns || unix_time.empty();
    file.first_ns = takes_all ? starts.first_ns() : std::optional(unix_time.first);
    file.last_ns = takes_all ? starts.last_ns() : std::optional(unix_time.last);
    if (bases[i]) place_relative_times(file, *bases[i], starts);
    file.cycle = ranks[i].cycle;
    file.is_merged = evidence.was_merged();  // true even if RANK=path declares the file to be
                                             // one rank
    if (file.is_merged) file.ranks = ranks[i].ranks();
    file.sync_us = evidence.sync_us();
    // Composer's merger keeps the error bounds of every rank and cycle, so they cannot be used.
    if (!file.is_merged || evidence.was_merged_by_us())
      file.error_bound_us = error_bound_of(evidence);
    if (!file.is_merged) {
      file.sync_events = sync_events_of(evidence, file);
      add_recorder_clock(file, evidence.recorder);
    }
    plan.facts.push_back(std::move(file));
  }
  align_parts(files, options, plan);
  if (options.align_by != AlignBy::none)
    for (std::size_t i = 0; i < files.size(); ++i)
      if (bases[i]) count_lost_base(*bases[i], plan.clocks[i].problems);
  const ClockedFiles all{files, ranks, plan.facts, plan.clocks};
  align_by_collectives(all, options);
  check_clocks(all, options.align_by);
  limit_times(all_starts, plan.clocks);
  plan.origin_ns = common_origin_ns(all_starts, plan.clocks);
  return plan;
}

std::int64_t common_origin_ns(const std::vector<StartTimes>& starts,
                              const std::vector<FileClock>& clocks) {
  const std::vector<Stretch> stretches = stretches_of(starts, clocks);
  if (stretches.empty()) return 0;
  const std::int64_t first_ns = stretches.front().times.first_ns;
  const std::int64_t rest = (first_ns % 1000 + 1000) % 1000;
  std::int64_t floored_ns = 0;
  // The lowest microsecond of int64 has no whole microsecond below it.
  return __builtin_sub_overflow(first_ns, rest, &floored_ns) ? first_ns : floored_ns;
}

}  // namespace traceloom
