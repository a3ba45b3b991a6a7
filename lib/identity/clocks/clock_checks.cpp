#include "base/arithmetic.h"
#include "base/units.h"
#include "identity/clocks/clock_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kMostLines = 8;

// Files whose shifts are reported together.
struct Group {
  std::size_t file = 0;  // that of the lowest rank
  std::size_t files = 1;
  std::set<std::int64_t> ranks = {};
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::int64_t least_bound_ns = 0;
  std::int64_t most_bound_ns = 0;
  bool contradicts = true;

  explicit Group(const RankShift& one)
      : file(one.file),
        ranks(one.ranks.begin(), one.ranks.end()),
        least_ns(one.shift_ns),
        most_ns(one.shift_ns),
        least_bound_ns(one.bound_ns),
        most_bound_ns(one.bound_ns),
        contradicts(one.contradicts) {}
  void add(const Group& other) {
    if (*other.ranks.begin() < *ranks.begin()) file = other.file;
    files += other.files;
    ranks.insert(other.ranks.begin(), other.ranks.end());
    least_ns = std::min(least_ns, other.least_ns);
    most_ns = std::max(most_ns, other.most_ns);
    least_bound_ns = std::min(least_bound_ns, other.least_bound_ns);
    most_bound_ns = std::max(most_bound_ns, other.most_bound_ns);
  }
};

std::vector<Group> group_alike(std::vector<RankShift> shifts) {
  std::ranges::stable_sort(
      shifts, {}, [](const RankShift& one) { return std::pair(one.contradicts, one.shift_ns); });
  std::vector<Group> groups;
  for (const RankShift& shift : shifts) {
    const bool is_alike = !groups.empty() && groups.back().contradicts == shift.contradicts &&
                          saturating_subtract(shift.shift_ns, groups.back().least_ns) <=
                              std::min(shift.bound_ns, groups.back().least_bound_ns);
    if (is_alike)
      groups.back().add(Group(shift));
    else
      groups.emplace_back(shift);
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
  Group all(small.front());
  for (std::size_t i = 1; i < small.size(); ++i) all.add(Group(small[i]));
  line.files += all.files;
  line.words += fmt::format("; {} by {}, less than the ends are still apart",
                            ranks_words(all.ranks, RankStyle::sentence),
                            range_words(all.least_ns, all.most_ns));
}

ShiftLine line_of_rest(const std::vector<Group>& groups) {
  Group rest = groups[kMostLines - 1];
  for (std::size_t i = kMostLines; i < groups.size(); ++i) rest.add(groups[i]);
  return {rest.file, rest.files,
          fmt::format("and {} more ranks, by {} to {} (see --report)", rest.ranks.size(),
                      signed_duration(rest.least_ns), signed_duration(rest.most_ns))};
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

// When the files of a rank are, and its first file.
struct RankTimes {
  std::size_t first_file = 0;
  CommonTimes times = {};
};

// Ranks whose times overlap, directly or through each other.
struct Together {
  std::set<std::int64_t> ranks;
  CommonTimes times;
};

// Returns the sets of ranks, the earliest first.
std::vector<Together> overlapping(const std::map<std::int64_t, RankTimes>& by_rank) {
  std::vector<std::pair<std::int64_t, CommonTimes>> ranks;
  for (const auto& [rank, own] : by_rank) ranks.emplace_back(rank, own.times);
  std::ranges::stable_sort(ranks, {}, [](const auto& one) { return one.second.first_ns; });
  std::vector<Together> sets;
  for (const auto& [rank, own] : ranks) {
    if (sets.empty() || sets.back().times.last_ns < own.first_ns) sets.emplace_back();
    sets.back().ranks.insert(rank);
    sets.back().times.add(own);
  }
  return sets;
}

void report_apart(const ClockedFiles& files, const Together& set,
                  const std::map<std::int64_t, RankTimes>& by_rank) {
  const auto& [lowest, its] = *by_rank.begin();
  const std::int64_t ahead_ns = saturating_subtract(set.times.first_ns, its.times.first_ns);
  std::vector<std::string> options;
  for (const std::int64_t rank : set.ranks) {
    const std::size_t file = by_rank.at(rank).first_file;
    options.push_back(offset_option(files.facts[file], files.clocks[file], ahead_ns));
  }
  const bool is_cut = options.size() > kMostOptions;
  if (is_cut) options.resize(kMostOptions);
  ProblemCounts& problems = files.clocks[by_rank.at(*set.ranks.begin()).first_file].problems;
  problems.add(Problem::ranks_apart, 0, set.ranks.size(),
               fmt::format("{} {} {} {} rank {}; trace-merge {}{} lets them begin together",
                           ranks_words(set.ranks, RankStyle::sentence),
                           plural(set.ranks.size(), "begins", "begin"),
                           format_duration(std::abs(ahead_ns)), ahead_ns < 0 ? "before" : "after",
                           lowest, fmt::join(options, " "), is_cut ? " (and so on)" : ""));
}

}  // namespace

std::vector<std::set<std::int64_t>> find_runs(const ClockedFiles& files) {
  std::map<std::string, std::set<std::int64_t>> sharing;  // by what they have in common
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileEvidence& evidence = files.evidence(i);
    if (evidence.world_size.value_or(1) > 1)
      sharing[fmt::format("world of {}", *evidence.world_size)].insert(files.facts[i].rank);
    for (const auto& [key, kind] : evidence.collectives.kinds())
      sharing[fmt::format("group {}\n{}", kind.group, kind.ranks)].insert(files.facts[i].rank);
  }
  std::vector<std::set<std::int64_t>> runs;
  for (auto& [what, ranks] : sharing)
    if (ranks.size() > 1) runs.push_back(std::move(ranks));
  return runs;
}

void check_ranks_apart(const ClockedFiles& files) {
  std::map<std::int64_t, RankTimes> by_rank;
  std::set<std::int64_t> placed;  // ranks that more than an absolute time places
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ClockFacts& facts = files.facts[i];
    if (files.starts(i).empty()) continue;
    if (!is_absolute(files.clocks[i]) || files.clocks[i].collectives) placed.insert(facts.rank);
    for (const std::int64_t rank : facts.ranks)
      if (rank != facts.rank) placed.insert(rank);  // it has events at other times, too
    by_rank.try_emplace(facts.rank, RankTimes{i}).first->second.times.add(files.times(i));
  }
  std::set<std::int64_t> of_one_run;
  for (const std::set<std::int64_t>& run : find_runs(files))
    of_one_run.insert(run.begin(), run.end());
  const auto has_one_of = [](const Together& set, const std::set<std::int64_t>& ranks) {
    return std::ranges::any_of(set.ranks, [&](std::int64_t rank) { return ranks.contains(rank); });
  };
  for (const Together& set : overlapping(by_rank))
    if (set.times.first_ns != set.times.last_ns && !set.ranks.contains(by_rank.begin()->first) &&
        !has_one_of(set, placed) && has_one_of(set, of_one_run))
      report_apart(files, set, by_rank);
}

namespace {

// Syncs that are further apart cannot belong to one run.
constexpr std::int64_t kLongestRunNs = std::int64_t{86'400} * 1'000'000'000;
constexpr std::int64_t kWideNs = 1'000'000;
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

void check_sync(const ClockFacts& facts, const StartTimes& starts, FileClock& clock) {
  const std::optional<std::int64_t> sync = facts.sync_us ? us_to_ns(*facts.sync_us) : std::nullopt;
  if (!is_by_sync(clock.method) || !sync) return;
  const std::int64_t sync_ns = *sync;
  std::int64_t aligned_ns = 0;
  std::int64_t from_events_ns = 0;
  // The events are compared on the clock of the file's base, or on the clock of its own ts.
  const TimeMap times(facts.relative_base_ns.value_or(facts.base_ns.value_or(0)),
                      facts.base_ns.value_or(0));
  const CommonTimes events = common_times(starts, times);
  if (!starts.empty() && is_unix_time(events.first_ns) == is_unix_time(sync_ns))
    from_events_ns = apart(sync_ns, std::clamp(sync_ns, events.first_ns, events.last_ns));
  if (from_events_ns > kFarFromEventsNs) {
    clock.problems.add(Problem::far_sync, 0, 1,
                       fmt::format("{} from its events", format_duration(from_events_ns)));
    return;
  }
  const std::int64_t shift_ns = clock.offset_ns - facts.base_ns.value_or(0);
  if (!is_unix_time(sync_ns) || __builtin_add_overflow(sync_ns, shift_ns, &aligned_ns) ||
      !is_unix_time(aligned_ns) || apart(sync_ns, aligned_ns) <= kLongestRunNs)
    return;
  clock.problems.add(Problem::far_sync, 0, 1,
                     fmt::format("{} from the reference", format_duration(-shift_ns)));
}

// A problem that is reported once belongs to the first file of the lowest rank, whatever the order
// of the inputs.
using FileOrder = std::vector<std::size_t>;

FileOrder order_by_rank(const ClockedFiles& files) {
  std::vector<std::int64_t> first_ns;
  for (std::size_t i = 0; i < files.size(); ++i) first_ns.push_back(files.times(i).first_ns);
  FileOrder order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t file) {
    return std::pair(files.ranks[file].rank, first_ns[file]);
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
  first->problems.add(Problem::wide_sync, 0, 1,
                      fmt::format("up to {}", format_duration(widest_ns)));
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
    return clocks[i].problems.add(Problem::no_clock, 0, unrelated.size(),
                                  ranks_words(unrelated, RankStyle::sentence));
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
  problems.add(Problem::missing_rank, 0, static_cast<std::uint64_t>(size - found),
               names_size ? fmt::format("{} of {}", words, size) : words);
}

}  // namespace

void check_clocks(const ClockedFiles& files, AlignBy align_by) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files.facts[i].is_merged) check_conflicts(files.evidence(i), files.clocks[i].problems);
    check_sync(files.facts[i], files.starts(i), files.clocks[i]);
  }
  const FileOrder order = order_by_rank(files);
  check_errors(order, files.clocks);
  check_ranks_apart(files);
  if (align_by != AlignBy::none) check_unrelated(files.facts, files.clocks);
  check_missing(files.ranks, order, files.clocks);
}

}  // namespace traceloom
