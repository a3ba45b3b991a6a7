#include "identity/clocks/clock_checks.h"

#include "base/saturating.h"
#include "base/units.h"
#include "identity/clocks/ranks_apart.h"
#include "identity/clocks/shift_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace traceloom {
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
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
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

// Returns "2, 5-7": the missing ranks below `world_size`.
std::string missing_words(const std::set<std::int64_t>& ranks, std::int64_t world_size) {
  std::string words;
  std::size_t named = 0;
  std::int64_t next = 0;
  const auto name = [&](std::int64_t first, std::int64_t last) {
    if (first > last || named > kMostNamed) return;
    if (!words.empty()) words += ", ";
    if (++named > kMostNamed)
      words += "...";
    else
      words += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  };
  for (const std::int64_t rank : ranks) {
    if (rank >= world_size) break;
    name(next, rank - 1);
    next = rank + 1;
  }
  name(next, world_size - 1);
  return words;
}

// Returns the number of the first file that names the size of the world, or the number of files if
// none does. Files that name another size get a problem.
std::size_t check_world_sizes(const std::vector<FileEvidence>& evidence, const FileOrder& order,
                              std::vector<FileClock>& clocks) {
  std::size_t first = evidence.size();
  for (const std::size_t i : order) {
    if (!evidence[i].world_size) continue;
    if (first == evidence.size()) first = i;
    if (evidence[i].world_size != evidence[first].world_size)
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
    clocks[i].problems.explain(Problem::no_clock, ranks_words(unrelated));
    return;
  }
}

// Without a world size, only ranks below the highest one can be known to be missing. If the user
// chose the ranks (RANK=path), not even these are.
void check_missing(const std::vector<FileEvidence>& evidence, const std::vector<FileRank>& ranks,
                   const FileOrder& order, std::vector<FileClock>& clocks) {
  const std::size_t teller = check_world_sizes(evidence, order, clocks);
  const bool names_size = teller < evidence.size();
  const bool is_chosen = std::any_of(ranks.begin(), ranks.end(), [](const FileRank& file) {
    return file.source == RankSource::argument;
  });
  const std::set<std::int64_t> known = ranks_of(ranks);
  if (ranks.size() < 2 || known.empty() || (is_chosen && !names_size)) return;
  const std::int64_t size = names_size ? *evidence[teller].world_size : *known.rbegin() + 1;
  const std::int64_t found = std::distance(known.begin(), known.lower_bound(size));
  if (size <= found) return;
  const std::string words = missing_words(known, size);
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
  check_missing(evidence, ranks, order, clocks);
}

}  // namespace traceloom
