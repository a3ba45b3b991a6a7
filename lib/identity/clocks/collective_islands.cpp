#include "identity/clocks/collective_islands.h"

#include "base/saturating.h"
#include "identity/clocks/collective_matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// Ranks on one host, which share a clock, leave a collective that far apart.
constexpr std::int64_t kSkewNs = 10'000;

std::int64_t end_spread(const CollectiveRound& round, const std::vector<std::int64_t>& ahead) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (const RoundPart& part : round.parts) {
    const std::int64_t end_ns = saturating_subtract(part.end_ns, ahead[part.clock]);
    first_ns = std::min(first_ns, end_ns);
    last_ns = std::max(last_ns, end_ns);
  }
  return saturating_subtract(last_ns, first_ns);
}

// Returns the median distance between the ends of a collective.
std::int64_t end_spread(const Island& island, const std::vector<std::int64_t>& ahead) {
  std::vector<std::int64_t> spreads;
  for (const CollectiveRound& round : island.rounds)
    if (!round.is_message) spreads.push_back(end_spread(round, ahead));
  if (spreads.empty()) return 0;
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>((spreads.size() - 1) / 2);
  std::nth_element(spreads.begin(), middle, spreads.end());
  return *middle;
}

// True for a merge whose files had a clock sync. Its collectives are not used: some of its files
// may have had times of two kinds, which are not aligned by collectives, and a merge does not note
// that.
bool has_merged_sync(const ClockedFiles& all, std::size_t file) {
  return all.facts[file].is_merged && all.evidence[file].sync_us().has_value();
}

// True for a merge whose files had no clock evidence: it may hold ranks that are apart.
bool has_unknown_origin(const FileClock& clock) {
  return clock.method == ClockMethod::merged && !clock.is_known;
}

class IslandFinder {
 public:
  explicit IslandFinder(const ClockedFiles& all) : all_(all) {
    for (std::size_t i = 0; i < all.facts.size(); ++i)
      first_ns_.push_back(common_times(all.starts[i], all.clocks[i].times).first_ns);
    find_files();
  }

  std::vector<Island> run() const;

 private:
  void find_files();
  std::vector<MarkedFile> marked_files() const;
  std::vector<std::size_t> roots_of(const std::vector<CollectiveRound>& rounds) const;

  const ClockedFiles& all_;
  std::vector<std::int64_t> first_ns_;
  std::vector<std::size_t> files_;  // the best reference first
};

void IslandFinder::find_files() {
  for (std::size_t i = 0; i < all_.facts.size(); ++i)
    if (!has_merged_sync(all_, i) && !all_.facts[i].relative_base_ns && !all_.starts[i].empty() &&
        !all_.evidence[i].collectives.empty() && !has_unknown_origin(all_.clocks[i]))
      files_.push_back(i);
  std::ranges::stable_sort(files_, {}, [this](std::size_t file) {
    return std::tuple(standing_of(all_.clocks[file]), all_.facts[file].rank, first_ns_[file]);
  });
}

std::vector<MarkedFile> IslandFinder::marked_files() const {
  std::map<std::int64_t, std::vector<std::size_t>> of_rank;
  for (std::size_t index = 0; index < files_.size(); ++index)
    of_rank[all_.facts[files_[index]].rank].push_back(index);
  const std::size_t each = of_rank.begin()->second.size();
  const bool all_alike =
      std::ranges::all_of(of_rank, [each](const auto& one) { return one.second.size() == each; });
  std::vector<MarkedFile> marked;
  for (const std::size_t file : files_)
    marked.push_back({all_.facts[file].rank,
                      {},
                      &all_.evidence[file].collectives,
                      &all_.clocks[file].times,
                      all_.facts[file].ranks.size() > 1});
  for (auto& [rank, indices] : of_rank) {
    std::ranges::stable_sort(indices, {},
                             [this](std::size_t index) { return first_ns_[files_[index]]; });
    std::map<std::string, std::size_t> seen;
    for (const std::size_t index : indices) {
      const std::string& name = all_alike ? std::string() : all_.facts[files_[index]].cycle;
      marked[index].cycle = fmt::format("{} {}", seen[name]++, name);
    }
  }
  return marked;
}

// Returns for each file the first file with which it is connected.
std::vector<std::size_t> IslandFinder::roots_of(const std::vector<CollectiveRound>& rounds) const {
  std::vector<std::size_t> root(files_.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&root](std::size_t index) {
    while (root[index] != index) index = root[index] = root[root[index]];
    return index;
  };
  for (const CollectiveRound& round : rounds)
    for (const RoundPart& part : round.parts) {
      const std::size_t a = find(round.parts.front().clock);
      const std::size_t b = find(part.clock);
      root[std::max(a, b)] = std::min(a, b);
    }
  for (std::size_t index = 0; index < root.size(); ++index) root[index] = find(index);
  return root;
}

std::vector<Island> IslandFinder::run() const {
  if (files_.size() < 2) return {};
  std::vector<CollectiveRound> rounds = match_rounds(marked_files());
  const std::vector<std::size_t> root = roots_of(rounds);
  std::map<std::size_t, Island> islands;
  std::vector<std::size_t> place(files_.size());
  for (std::size_t index = 0; index < files_.size(); ++index) {
    Island& island = islands[root[index]];
    place[index] = island.files.size();
    island.files.push_back(files_[index]);
  }
  for (CollectiveRound& round : rounds) {
    Island& island = islands[root[round.parts.front().clock]];
    for (RoundPart& part : round.parts) part.clock = place[part.clock];
    island.rounds.push_back(std::move(round));
  }
  std::vector<Island> found;
  found.reserve(islands.size());
  for (auto& [first, island] : islands) found.push_back(std::move(island));
  return found;
}

}  // namespace

Standing standing_of(const FileClock& clock) {
  switch (clock.method) {
    case ClockMethod::given:
    case ClockMethod::rounds:
    case ClockMethod::same_boot:
    case ClockMethod::sync_event:
      return Standing::fixed;
    case ClockMethod::sync:
    case ClockMethod::sync_of_rank:
      return clock.times.has_drift() ? Standing::fixed : Standing::by_sync;
    case ClockMethod::base:
    case ClockMethod::epoch:
    case ClockMethod::collectives:
      return Standing::absolute;
    case ClockMethod::merged:
      return clock.is_known ? Standing::absolute : Standing::unknown;
    case ClockMethod::none:
      break;
  }
  return Standing::unknown;
}

std::vector<Island> find_islands(const ClockedFiles& files) {
  return IslandFinder(files).run();
}

bool names_groups(const Island& island) {
  return std::ranges::all_of(island.rounds, &CollectiveRound::names_group);
}

EndSpread end_spread(const Island& island, const std::vector<CollectiveFit>& fits) {
  std::vector<std::int64_t> ahead;
  ahead.reserve(fits.size());
  for (const CollectiveFit& fit : fits)
    ahead.push_back(fit.outcome == CollectiveFit::Outcome::fitted ? fit.ahead_ns : 0);
  return {end_spread(island, std::vector<std::int64_t>(ahead.size(), 0)),
          end_spread(island, ahead)};
}

bool contradicts_clocks(const Island& island, const std::vector<CollectiveFit>& fits) {
  std::int64_t least_error_ns = 0;
  bool is_excluded = false;
  for (const CollectiveFit& fit : fits) {
    if (fit.outcome != CollectiveFit::Outcome::fitted) continue;
    least_error_ns = std::max(least_error_ns, fit.least_error_ns);
    is_excluded |= !fit.ahead.holds(0) && std::abs(fit.ahead_ns) > fit.least_error_ns;
  }
  const auto [now_ns, then_ns] = end_spread(island, fits);
  return (is_excluded && names_groups(island)) ||
         (now_ns / 2 > then_ns && now_ns - then_ns > std::max(kSkewNs, least_error_ns));
}

}  // namespace traceloom
