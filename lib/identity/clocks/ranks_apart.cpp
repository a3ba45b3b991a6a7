#include "identity/clocks/ranks_apart.h"

#include "base/saturating.h"
#include "base/units.h"
#include "identity/clocks/shift_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace traceloom {
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
  void report(const Together& set);

  const std::vector<ClockFacts>& facts_;
  std::vector<FileClock>& clocks_;
  std::map<std::int64_t, CommonTimes> times_;  // by rank
  std::map<std::int64_t, std::size_t> first_file_;
  std::set<std::int64_t> placed_;  // ranks that more than an absolute time places
};

void ApartRanks::report(const Together& set) {
  const auto& [lowest, its_times] = *times_.begin();
  const std::int64_t ahead_ns = saturating_subtract(set.times.first_ns, its_times.first_ns);
  std::vector<std::string> options;
  for (const std::int64_t rank : set.ranks) {
    const std::size_t file = first_file_[rank];
    options.push_back(offset_option(facts_[file], clocks_[file], ahead_ns));
  }
  const bool is_one = set.ranks.size() == 1;
  const bool is_cut = options.size() > kMostOptions;
  if (is_cut) options.resize(kMostOptions);
  ProblemCounts& problems = clocks_[first_file_[*set.ranks.begin()]].problems;
  problems.add(Problem::ranks_apart, 0, set.ranks.size());
  problems.explain(
      Problem::ranks_apart,
      fmt::format("{} begin{} {} {} rank {}; trace-merge {}{} lets them begin together",
                  ranks_words(set.ranks), is_one ? "s" : "", format_duration(std::abs(ahead_ns)),
                  ahead_ns < 0 ? "before" : "after", lowest, fmt::join(options, " "),
                  is_cut ? " (and so on)" : ""));
}

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

}  // namespace traceloom
