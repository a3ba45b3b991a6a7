#include "analysis/matched_waits.h"

#include "analysis/collectives.h"
#include "analysis/comm_times.h"
#include "analysis/rank_waits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr double kLeastMatched = 0.5;  // of a rank's time in communication

// Finds the step of one rank by time.
class StepFinder {
 public:
  StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index) {
    starts_.reserve(index.size());
    for_each_shared(roles.steps, index, [&](std::size_t step, const StepRoles& found) {
      starts_.emplace_back(found.step.time, step);
    });
    std::sort(starts_.begin(), starts_.end(),
              [](const auto& a, const auto& b) { return a.first.from_ns < b.first.from_ns; });
  }

  std::optional<std::size_t> step_at(std::int64_t ns) const {
    auto next =
        std::upper_bound(starts_.begin(), starts_.end(), ns,
                         [](std::int64_t at, const auto& step) { return at < step.first.from_ns; });
    if (next == starts_.begin()) return std::nullopt;
    --next;
    return ns < next->first.to_ns ? std::optional(next->second) : std::nullopt;
  }

 private:
  std::vector<std::pair<Interval, std::size_t>> starts_;
};

// Waiting of one rank for another in one step.
using WaitKey = std::tuple<std::size_t, std::size_t, std::size_t>;  // step, waited for, waiting
using Waiting = std::map<WaitKey, Intervals>;

bool covers_most(const std::vector<Collective>& matched, const std::vector<RankRoles>& roles,
                 const std::vector<std::size_t>& ranks) {
  std::map<std::size_t, std::int64_t> matched_ns;
  for (const CommTimes& times : find_comm_times(matched))
    if (times.name.empty()) matched_ns[times.rank] = times.busy_ns;
  return std::all_of(ranks.begin(), ranks.end(), [&](std::size_t rank) {
    const auto found = matched_ns.find(rank);
    const std::int64_t all_ns = total_ns(roles[rank].sets[Role::communication]);
    return found != matched_ns.end() &&
           static_cast<double>(found->second) >= kLeastMatched * static_cast<double>(all_ns);
  });
}

// Where each rank stands in `ranks`; those that do not are left out.
std::map<std::size_t, std::size_t> numbers_of(const std::vector<std::size_t>& ranks) {
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t i = 0; i < ranks.size(); ++i) numbers[ranks[i]] = i;
  return numbers;
}

Waiting find_waiting(const std::vector<Collective>& matched, const std::vector<RankRoles>& roles,
                     const StepPlaces& places) {
  const std::map<std::size_t, std::size_t> numbers = numbers_of(places.ranks);
  std::vector<StepFinder> finders;
  finders.reserve(places.ranks.size());
  for (std::size_t i = 0; i < places.ranks.size(); ++i)
    finders.emplace_back(roles[places.ranks[i]], places.step_index[i]);
  Waiting waiting;
  for (const Collective& what : matched) {
    const CollectivePart& last = what.last(false);
    const auto waited_for = numbers.find(last.rank);
    if (waited_for == numbers.end()) continue;
    const std::optional<std::size_t> step = finders[waited_for->second].step_at(last.start_ns);
    if (!step) continue;
    for (const CollectivePart& part : what.parts) {
      const auto rank = numbers.find(part.rank);
      if (rank == numbers.end() || &part == &last) continue;
      waiting[{*step, waited_for->second, rank->second}].push_back(
          {part.start_ns, part.start_ns + what.wait_ns(part)});
    }
  }
  return waiting;
}

// What each of those who wait for a rank in a step waits at least.
void add_delays(const Waiting& waiting, MatchedWaits& waits) {
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> least;  // of step and waited for
  for (const auto& [key, intervals] : waiting) {
    const auto& [step, waited_for, rank] = key;
    const std::int64_t ns = total_ns(unite(intervals));
    const auto [found, is_new] = least.try_emplace({step, waited_for}, ns);
    if (!is_new) found->second = std::min(found->second, ns);
  }
  for (const auto& [key, ns] : least) waits.delay_ns[key.second][key.first] = ns;
}

void add_waits(const Waiting& waiting, MatchedWaits& waits) {
  std::map<std::pair<std::size_t, std::size_t>, Intervals> all;  // of step and waiting
  for (const auto& [key, intervals] : waiting) {
    Intervals& found = all[{std::get<0>(key), std::get<2>(key)}];
    found.insert(found.end(), intervals.begin(), intervals.end());
  }
  for (auto& [key, intervals] : all)
    waits.wait_ns[key.second][key.first] = total_ns(unite(std::move(intervals)));
}

}  // namespace

std::optional<MatchedWaits> find_matched_waits(const Run& run, const std::vector<RankRoles>& roles,
                                               const StepPlaces& places) {
  std::vector<Collective> matched = match_collectives(run).matched;
  std::erase_if(matched, [](const Collective& what) { return !what.complete; });
  if (matched.empty() || !covers_most(matched, roles, places.ranks)) return std::nullopt;
  MatchedWaits waits;
  const std::size_t steps = places.step_index.empty() ? 0 : places.step_index.front().size();
  waits.wait_ns.assign(places.ranks.size(), std::vector<std::int64_t>(steps, 0));
  waits.delay_ns = waits.wait_ns;
  const Waiting waiting = find_waiting(matched, roles, places);
  add_delays(waiting, waits);
  add_waits(waiting, waits);
  return waits;
}

}  // namespace traceloom
