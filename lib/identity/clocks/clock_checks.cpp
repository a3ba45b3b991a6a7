#include "identity/clocks/clock_checks.h"

#include "base/arithmetic.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kMostLines = 8;

struct Group {
  std::size_t file = 0;
  std::size_t files = 0;
  std::set<std::int64_t> ranks = {};
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::int64_t least_bound_ns = 0;
  std::int64_t most_bound_ns = 0;
  bool contradicts = true;
};

std::vector<Group> group_alike(std::vector<RankShift> shifts) {
  std::ranges::stable_sort(
      shifts, {}, [](const RankShift& one) { return std::pair(one.contradicts, one.shift_ns); });
  std::vector<Group> groups;
  for (const RankShift& shift : shifts) {
    const bool is_alike = !groups.empty() && groups.back().contradicts == shift.contradicts &&
                          saturating_subtract(shift.shift_ns, groups.back().least_ns) <=
                              std::min(shift.bound_ns, groups.back().least_bound_ns);
    if (!is_alike)
      groups.push_back({.file = shift.file,
                        .least_ns = shift.shift_ns,
                        .least_bound_ns = shift.bound_ns,
                        .most_bound_ns = shift.bound_ns,
                        .contradicts = shift.contradicts});
    Group& group = groups.back();
    if (!group.ranks.empty() && shift.ranks.front() < *group.ranks.begin()) group.file = shift.file;
    ++group.files;
    group.ranks.insert(shift.ranks.begin(), shift.ranks.end());
    group.most_ns = shift.shift_ns;
    group.least_bound_ns = std::min(group.least_bound_ns, shift.bound_ns);
    group.most_bound_ns = std::max(group.most_bound_ns, shift.bound_ns);
  }
  std::ranges::stable_sort(groups, {}, [](const Group& group) { return *group.ranks.begin(); });
  return groups;
}

std::string signed_duration(std::int64_t ns) {
  return fmt::format("{}{}", ns > 0 ? "+" : "", format_duration(ns));
}

std::string range_words(std::int64_t least_ns, std::int64_t most_ns) {
  const std::string least = signed_duration(least_ns);
  const std::string most = signed_duration(most_ns);
  return least == most ? least : least + " to " + most;
}

std::string words_of(const Group& group, const EndSpread& ends) {
  const std::string whose = plural(group.ranks.size(), "its", "their");
  std::string why = fmt::format("{} collectives end with the others'", whose);
  if (!group.contradicts)
    why = ends.then_ns < ends.now_ns
              ? fmt::format("the ends of the collectives come from {} to {} apart",
                            format_duration(ends.now_ns), format_duration(ends.then_ns))
              : fmt::format("{} collectives and messages are possible then", whose);
  return fmt::format("{} shifted by {}: {} (±{})", ranks_words(group.ranks, RankStyle::sentence),
                     range_words(group.least_ns, group.most_ns), why,
                     format_duration(group.most_bound_ns));
}

// Adds the ranks whose shifts are small to the last line.
void add_small(const std::vector<RankShift>& small, ShiftLine& line) {
  std::set<std::int64_t> ranks;
  std::int64_t least_ns = small.front().shift_ns;
  std::int64_t most_ns = small.front().shift_ns;
  for (const RankShift& shift : small) {
    ranks.insert(shift.ranks.begin(), shift.ranks.end());
    least_ns = std::min(least_ns, shift.shift_ns);
    most_ns = std::max(most_ns, shift.shift_ns);
  }
  line.files += small.size();
  line.words +=
      fmt::format("; {} by {}, less than the ends are still apart",
                  ranks_words(ranks, RankStyle::sentence), range_words(least_ns, most_ns));
}

ShiftLine line_of_rest(const std::vector<Group>& groups) {
  ShiftLine line{groups[kMostLines - 1].file, 0, {}};
  std::set<std::int64_t> ranks;
  std::int64_t least_ns = groups.back().least_ns;
  std::int64_t most_ns = groups.back().most_ns;
  for (std::size_t i = kMostLines - 1; i < groups.size(); ++i) {
    line.files += groups[i].files;
    ranks.insert(groups[i].ranks.begin(), groups[i].ranks.end());
    least_ns = std::min(least_ns, groups[i].least_ns);
    most_ns = std::max(most_ns, groups[i].most_ns);
  }
  line.words = fmt::format("and {} more ranks, by {} to {} (see --report)", ranks.size(),
                           signed_duration(least_ns), signed_duration(most_ns));
  return line;
}

}  // namespace

std::vector<ShiftLine> shift_lines(std::vector<RankShift> shifts, const EndSpread& ends) {
  const auto large_end = std::stable_partition(shifts.begin(), shifts.end(),
                                               [](const RankShift& one) { return !one.is_small; });
  std::vector<RankShift> small(large_end, shifts.end());
  if (small.size() == shifts.size()) small.clear();
  shifts.resize(shifts.size() - small.size());
  const std::vector<Group> groups = group_alike(std::move(shifts));
  std::vector<ShiftLine> lines;
  for (const Group& group : groups) {
    if (groups.size() > kMostLines && lines.size() + 1 == kMostLines) {
      lines.push_back(line_of_rest(groups));
      break;
    }
    lines.push_back({group.file, group.files, words_of(group, ends)});
  }
  if (!small.empty()) add_small(small, lines.back());
  return lines;
}

std::string offset_option(const ClockFacts& facts, const FileClock& clock, std::int64_t ahead_ns) {
  const std::int64_t now_ns = saturating_subtract(clock.offset_ns, facts.base_ns.value_or(0));
  return fmt::format("--offset {}={}ns", facts.rank, saturating_subtract(now_ns, ahead_ns));
}

namespace {

constexpr std::size_t kMostOptions = 8;

bool is_absolute(const FileClock& clock) {
  return clock.method == ClockMethod::base || clock.method == ClockMethod::epoch ||
         (clock.method == ClockMethod::merged && clock.is_known);
}

// Ranks whose times overlap, directly or through each other.
struct Together {
  std::set<std::int64_t> ranks;
  CommonTimes times;
};

// Returns the sets of ranks, the earliest first.
std::vector<Together> overlapping(const std::map<std::int64_t, CommonTimes>& times) {
  std::vector<std::pair<std::int64_t, CommonTimes>> ranks(times.begin(), times.end());
  std::ranges::stable_sort(ranks, {}, [](const auto& one) { return one.second.first_ns; });
  std::vector<Together> sets;
  for (const auto& [rank, own] : ranks) {
    if (sets.empty() || sets.back().times.last_ns < own.first_ns) sets.emplace_back();
    sets.back().ranks.insert(rank);
    sets.back().times.add(own);
  }
  return sets;
}

class ApartRanks {
 public:
  ApartRanks(const std::vector<ClockFacts>& facts, const std::vector<StartTimes>& starts,
             std::vector<FileClock>& clocks)
      : facts_(facts), clocks_(clocks) {
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (starts[i].empty()) continue;
      if (!is_absolute(clocks[i]) || clocks[i].collectives) placed_.insert(facts[i].rank);
      for (const std::int64_t rank : facts[i].ranks)
        if (rank != facts[i].rank) placed_.insert(rank);  // it has events at other times, too
      times_[facts[i].rank].add(common_times(starts[i], clocks[i].times));
      first_file_.emplace(facts[i].rank, i);
    }
  }

  void run(const std::set<std::int64_t>& of_one_run) {
    for (const Together& set : overlapping(times_)) {
      const auto is_in = [](const std::set<std::int64_t>& ranks) {
        return [&ranks](std::int64_t rank) { return ranks.contains(rank); };
      };
      const bool is_moment = set.times.first_ns == set.times.last_ns;
      if (is_moment || set.ranks.contains(times_.begin()->first) ||
          std::ranges::any_of(set.ranks, is_in(placed_)) ||
          std::ranges::none_of(set.ranks, is_in(of_one_run)))
        continue;
      report(set);
    }
  }

 private:
  void report(const Together& set) {
    const auto& [lowest, its_times] = *times_.begin();
    const std::int64_t ahead_ns = saturating_subtract(set.times.first_ns, its_times.first_ns);
    std::vector<std::string> options;
    for (const std::int64_t rank : set.ranks) {
      const std::size_t file = first_file_[rank];
      options.push_back(offset_option(facts_[file], clocks_[file], ahead_ns));
    }
    const bool is_cut = options.size() > kMostOptions;
    if (is_cut) options.resize(kMostOptions);
    ProblemCounts& problems = clocks_[first_file_[*set.ranks.begin()]].problems;
    problems.add(Problem::ranks_apart, 0, set.ranks.size());
    problems.explain(
        Problem::ranks_apart,
        fmt::format("{} {} {} {} rank {}; trace-merge {}{} lets them begin together",
                    ranks_words(set.ranks, RankStyle::sentence),
                    plural(set.ranks.size(), "begins", "begin"),
                    format_duration(std::abs(ahead_ns)), ahead_ns < 0 ? "before" : "after", lowest,
                    fmt::join(options, " "), is_cut ? " (and so on)" : ""));
  }

  const std::vector<ClockFacts>& facts_;
  std::vector<FileClock>& clocks_;
  std::map<std::int64_t, CommonTimes> times_;  // by rank
  std::map<std::int64_t, std::size_t> first_file_;
  std::set<std::int64_t> placed_;  // ranks that more than an absolute time places
};

}  // namespace

std::vector<std::set<std::int64_t>> find_runs(const std::vector<FileEvidence>& evidence,
                                              const std::vector<ClockFacts>& facts) {
  std::map<std::string, std::set<std::int64_t>> sharing;  // by what they have in common
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (evidence[i].world_size.value_or(1) > 1)
      sharing[fmt::format("world of {}", *evidence[i].world_size)].insert(facts[i].rank);
    for (const auto& [key, kind] : evidence[i].collectives.kinds())
      sharing[fmt::format("group {}\n{}", kind.group, kind.ranks)].insert(facts[i].rank);
  }
  std::vector<std::set<std::int64_t>> runs;
  for (auto& [what, ranks] : sharing)
    if (ranks.size() > 1) runs.push_back(std::move(ranks));
  return runs;
}

void check_ranks_apart(const std::vector<FileEvidence>& evidence,
                       const std::vector<ClockFacts>& facts, const std::vector<StartTimes>& starts,
                       std::vector<FileClock>& clocks) {
  std::set<std::int64_t> of_one_run;
  for (const std::set<std::int64_t>& run : find_runs(evidence, facts))
    of_one_run.insert(run.begin(), run.end());
  ApartRanks(facts, starts, clocks).run(of_one_run);
}

namespace {

// Syncs that are further apart cannot belong to one run.
constexpr std::int64_t kLongestRunNs = std::int64_t{86'400} * 1'000'000'000;
// In this time, clocks that differ by 50 ppm drift apart by 30 ms. Composer takes the sync of a
// cycle when the cycle begins.
constexpr std::int64_t kFarFromEventsNs = std::int64_t{600} * 1'000'000'000;
constexpr std::int64_t kWideNs = 1'000'000;
constexpr std::int64_t kFarthestNs = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostNamed = 8;

// Counts each value other than the one in use, once.
void check_conflicts(const FileEvidence& evidence, ProblemCounts& problems) {
  const std::optional<std::int64_t> used = evidence.sync_us();
  std::set<std::optional<std::int64_t>> met{used};
  std::string others;
  const auto check = [&](std::int64_t value, std::uint64_t offset) {
    if (!met.insert(value).second) return;
    problems.add(Problem::sync_conflict, offset);
    if (met.size() <= kMostNamed) others += fmt::format("{}{}", others.empty() ? "" : ", ", value);
  };
  for (const Mark& mark : evidence.syncs) check(mark.value, mark.offset);
  if (evidence.top_level_sync_us) check(*evidence.top_level_sync_us, 0);
  if (!others.empty())
    problems.explain(Problem::sync_conflict, fmt::format("{} us, not {}", *used, others));
}

// Returns the distance of `ns` from [first, last]; a distance that does not fit is the greatest
// possible one.
std::int64_t distance(std::int64_t ns, std::int64_t first, std::int64_t last) {
  std::int64_t far = 0;
  if (ns < first) return __builtin_sub_overflow(first, ns, &far) ? kFarthestNs : far;
  if (ns > last) return __builtin_sub_overflow(ns, last, &far) ? kFarthestNs : far;
  return 0;
}

void check_sync(const ClockFacts& facts, const StartTimes& starts, FileClock& clock) {
  std::int64_t sync_ns = 0;
  std::int64_t aligned_ns = 0;
  if (!is_by_sync(clock.method) || !facts.sync_us ||
      __builtin_mul_overflow(*facts.sync_us, std::int64_t{1000}, &sync_ns))
    return;
  std::int64_t from_events_ns = 0;
  // The events are compared on the clock of the file's base, or on the clock of its own ts.
  const TimeMap times(facts.relative_base_ns.value_or(facts.base_ns.value_or(0)),
                      facts.base_ns.value_or(0));
  const CommonTimes events = common_times(starts, times);
  if (!starts.empty() && is_unix_time(events.first_ns) == is_unix_time(sync_ns))
    from_events_ns = distance(sync_ns, events.first_ns, events.last_ns);
  if (from_events_ns > kFarFromEventsNs) {
    clock.problems.add(Problem::far_sync, 0);
    clock.problems.explain(Problem::far_sync,
                           fmt::format("{} from its events", format_duration(from_events_ns)));
    return;
  }
  const std::int64_t shift_ns = clock.offset_ns - facts.base_ns.value_or(0);
  if (!is_unix_time(sync_ns) || __builtin_add_overflow(sync_ns, shift_ns, &aligned_ns) ||
      !is_unix_time(aligned_ns) || distance(sync_ns, aligned_ns, aligned_ns) <= kLongestRunNs)
    return;
  clock.problems.add(Problem::far_sync, 0);
  clock.problems.explain(Problem::far_sync,
                         fmt::format("{} from the reference", format_duration(-shift_ns)));
}

// A problem that is reported once belongs to the first file of the lowest rank, whatever the order
// of the inputs.
using FileOrder = std::vector<std::size_t>;

FileOrder order_by_rank(const std::vector<FileRank>& ranks, const std::vector<StartTimes>& starts,
                        const std::vector<FileClock>& clocks) {
  std::vector<std::int64_t> first_ns;
  first_ns.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    first_ns.push_back(common_times(starts[i], clocks[i].times).first_ns);
  FileOrder order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(ranks[a].rank, first_ns[a]) < std::tuple(ranks[b].rank, first_ns[b]);
  });
  return order;
}

// Reports once for all files, because their syncs mostly have similar errors.
void check_errors(const FileOrder& order, std::vector<FileClock>& clocks) {
  FileClock* first = nullptr;
  std::int64_t widest_ns = 0;
  for (const std::size_t file : order) {
    FileClock& clock = clocks[file];
    if (!is_by_sync(clock.method) || clock.error_ns.value_or(0) <= kWideNs) continue;
    if (first == nullptr) first = &clock;
    widest_ns = std::max(widest_ns, *clock.error_ns);
  }
  if (first == nullptr) return;
  first->problems.add(Problem::wide_sync, 0);
  first->problems.explain(Problem::wide_sync, fmt::format("up to {}", format_duration(widest_ns)));
}

std::set<std::int64_t> ranks_of(const std::vector<FileRank>& files) {
  std::set<std::int64_t> ranks;
  for (const FileRank& file : files)
    for (const std::int64_t rank : file.ranks()) ranks.insert(rank);
  return ranks;
}

std::vector<RankRange> missing_ranks(const std::set<std::int64_t>& ranks, std::int64_t world_size) {
  std::vector<RankRange> missing;
  std::int64_t next = 0;
  const auto add = [&](std::int64_t first, std::int64_t last) {
    if (first <= last) missing.push_back({first, last});
  };
  for (const std::int64_t rank : ranks) {
    if (rank >= world_size) break;
    add(next, rank - 1);
    next = rank + 1;
  }
  add(next, world_size - 1);
  return missing;
}

// Returns the number of the first file that names the size of the world, or the number of files if
// none does. Files that name another size get a problem.
std::size_t check_world_sizes(const std::vector<FileRank>& ranks, const FileOrder& order,
                              std::vector<FileClock>& clocks) {
  std::size_t first = ranks.size();
  for (const std::size_t i : order) {
    if (!ranks[i].world_size) continue;
    if (first == ranks.size()) first = i;
    if (ranks[i].world_size != ranks[first].world_size)
      clocks[i].problems.add(Problem::world_size_disagrees, 0);
  }
  return first;
}

// Where no file has any clock evidence, the ranks that no collective connects with the others keep
// their own times. They are counted once, for the first file of them.
void check_unrelated(const std::vector<ClockFacts>& facts, std::vector<FileClock>& clocks) {
  std::set<std::int64_t> ranks;
  std::set<std::int64_t> unrelated;
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const ClockMethod method = clocks[i].method;
    if (method != ClockMethod::none && method != ClockMethod::collectives) return;
    ranks.insert(facts[i].rank);
    if (!clocks[i].collectives) unrelated.insert(facts[i].rank);
  }
  if (ranks.size() < 2) return;
  unrelated.erase(*ranks.begin());
  for (std::size_t i = 0; i < clocks.size() && !unrelated.empty(); ++i) {
    if (facts[i].rank != *unrelated.begin()) continue;
    clocks[i].problems.add(Problem::no_clock, 0, unrelated.size());
    clocks[i].problems.explain(Problem::no_clock, ranks_words(unrelated, RankStyle::sentence));
    return;
  }
}

// Without a world size, only ranks below the highest one can be known to be missing. If the user
// chose the ranks (RANK=path), not even these are.
void check_missing(const std::vector<FileRank>& ranks, const FileOrder& order,
                   std::vector<FileClock>& clocks) {
  const std::size_t teller = check_world_sizes(ranks, order, clocks);
  const bool names_size = teller < ranks.size();
  const bool is_chosen = std::ranges::any_of(
      ranks, [](const FileRank& file) { return file.source == RankSource::argument; });
  const std::set<std::int64_t> known = ranks_of(ranks);
  if (ranks.size() < 2 || known.empty() || (is_chosen && !names_size)) return;
  const std::int64_t size = names_size ? *ranks[teller].world_size : *known.rbegin() + 1;
  const std::int64_t found = std::distance(known.begin(), known.lower_bound(size));
  if (size <= found) return;
  const std::string words = rank_list(missing_ranks(known, size), RankStyle::sentence);
  ProblemCounts& problems = clocks[names_size ? teller : order.front()].problems;
  problems.add(Problem::missing_rank, 0, static_cast<std::uint64_t>(size - found));
  problems.explain(Problem::missing_rank,
                   names_size ? fmt::format("{} of {}", words, size) : words);
}

}  // namespace

void check_clocks(const std::vector<FileEvidence>& evidence, const std::vector<FileRank>& ranks,
                  const std::vector<StartTimes>& starts, const std::vector<ClockFacts>& facts,
                  AlignBy align_by, std::vector<FileClock>& clocks) {
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (!facts[i].is_merged) check_conflicts(evidence[i], clocks[i].problems);
    check_sync(facts[i], starts[i], clocks[i]);
  }
  const FileOrder order = order_by_rank(ranks, starts, clocks);
  check_errors(order, clocks);
  check_ranks_apart(evidence, facts, starts, clocks);
  if (align_by != AlignBy::none) check_unrelated(facts, clocks);
  check_missing(ranks, order, clocks);
}

}  // namespace traceloom
