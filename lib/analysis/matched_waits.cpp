#include "analysis/matched_waits.h"

#include "analysis/collectives.h"
#include "analysis/comm_times.h"
#include "analysis/rank_waits.h"
#include "run/packed_intervals.h"

#include <algorithm>
#include <map>
#include <optional>
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

// Of one rank for another in one collective.
struct WaitPiece {
  std::size_t step;
  std::size_t waited_for;
  std::size_t waiting;
  Interval time;
};

// Waiting of one rank for another in one step.
struct WaitTimes {
  Intervals all;
  Intervals exposed;  // what no work of the waiting rank's own devices hides

  void add(const WaitTimes& other) {
    all.insert(all.end(), other.all.begin(), other.all.end());
    exposed.insert(exposed.end(), other.exposed.begin(), other.exposed.end());
  }

  // What is exposed counts in any case. What is hidden still pushes later collectives out from
  // behind the work: as far as `longer_ns`, by which the rank's exposed communication in the step
  // is longer than that of the rank it waits for.
  std::int64_t felt_ns(std::int64_t longer_ns) const {
    const std::int64_t least_ns = total_ns(unite(exposed));
    return std::clamp(longer_ns, least_ns, std::max(least_ns, total_ns(unite(all))));
  }
};
using WaitKey = std::tuple<std::size_t, std::size_t, std::size_t>;  // step, waited for, waiting
using Waiting = std::map<WaitKey, WaitTimes>;

// Leaves of times that ascend by their begin what no work of the rank's devices hides.
class ExposedTimes {
 public:
  explicit ExposedTimes(const RankRoles& roles)
      : kernels_(roles.sets[Role::kernel]),
        copies_(roles.sets[Role::memcpy]),
        fills_(roles.sets[Role::memset]) {}

  Intervals of(const Interval& time) {
    Intervals rest = unite({time});
    for (IntervalWindows* work : {&kernels_, &copies_, &fills_})
      rest = subtract(rest, work->in(time));
    return rest;
  }

 private:
  IntervalWindows kernels_;
  IntervalWindows copies_;
  IntervalWindows fills_;
};

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

std::vector<WaitPiece> find_pieces(const std::vector<Collective>& matched,
                                   const std::vector<RankRoles>& roles, const StepPlaces& places) {
  const std::map<std::size_t, std::size_t> numbers = numbers_of(places.ranks);
  std::vector<StepFinder> finders;
  finders.reserve(places.ranks.size());
  for (std::size_t i = 0; i < places.ranks.size(); ++i)
    finders.emplace_back(roles[places.ranks[i]], places.step_index[i]);
  std::vector<WaitPiece> pieces;
  for (const Collective& what : matched) {
    const CollectivePart& last = what.last(false);
    const auto waited_for = numbers.find(last.rank);
    if (waited_for == numbers.end()) continue;
    const std::optional<std::size_t> step = finders[waited_for->second].step_at(last.start_ns);
    if (!step) continue;
    for (const CollectivePart& part : what.parts) {
      const auto rank = numbers.find(part.rank);
      if (rank == numbers.end() || &part == &last) continue;
      pieces.push_back({*step,
                        waited_for->second,
                        rank->second,
                        {part.start_ns, part.start_ns + what.wait_ns(part)}});
    }
  }
  return pieces;
}

Waiting find_waiting(std::vector<WaitPiece> pieces, const std::vector<RankRoles>& roles,
                     const std::vector<std::size_t>& ranks) {
  std::sort(pieces.begin(), pieces.end(), [](const WaitPiece& a, const WaitPiece& b) {
    return std::tuple(a.waiting, a.time.from_ns) < std::tuple(b.waiting, b.time.from_ns);
  });
  Waiting waiting;
  std::optional<ExposedTimes> exposed;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const WaitPiece& piece = pieces[i];
    if (i == 0 || pieces[i - 1].waiting != piece.waiting)
      exposed.emplace(roles[ranks[piece.waiting]]);
    waiting[{piece.step, piece.waited_for, piece.waiting}].add(
        {{piece.time}, exposed->of(piece.time)});
  }
  return waiting;
}

// What each of those who wait for a rank in a step waits at least.
void add_delays(const Waiting& waiting, const WaitMatrix& together_ns, MatchedWaits& waits) {
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> least;  // of step and waited for
  for (const auto& [key, times] : waiting) {
    const auto& [step, waited_for, rank] = key;
    const std::int64_t ns = times.felt_ns(together_ns[rank][step] - together_ns[waited_for][step]);
    const auto [found, is_new] = least.try_emplace({step, waited_for}, ns);
    if (!is_new) found->second = std::min(found->second, ns);
  }
  for (const auto& [key, ns] : least) waits.delay_ns[key.second][key.first] = ns;
}

void add_waits(const Waiting& waiting, const WaitMatrix& together_ns, MatchedWaits& waits) {
  std::map<std::pair<std::size_t, std::size_t>, WaitTimes> all;  // of step and waiting
  for (const auto& [key, times] : waiting) all[{std::get<0>(key), std::get<2>(key)}].add(times);
  for (const auto& [key, times] : all)
    waits.wait_ns[key.second][key.first] = times.felt_ns(together_ns[key.second][key.first]);
}

}  // namespace

std::optional<MatchedWaits> find_matched_waits(const Run& run, const std::vector<RankRoles>& roles,
                                               const StepPlaces& places,
                                               const WaitMatrix& together_ns) {
  std::vector<Collective> matched = match_collectives(run).matched;
  std::erase_if(matched, [](const Collective& what) { return !what.complete; });
  if (matched.empty() || !covers_most(matched, roles, places.ranks)) return std::nullopt;
  MatchedWaits waits;
  const std::size_t steps = places.step_index.empty() ? 0 : places.step_index.front().size();
  waits.wait_ns.assign(places.ranks.size(), std::vector<std::int64_t>(steps, 0));
  waits.delay_ns = waits.wait_ns;
  const Waiting waiting = find_waiting(find_pieces(matched, roles, places), roles, places.ranks);
  add_delays(waiting, together_ns, waits);
  add_waits(waiting, together_ns, waits);
  return waits;
}

}  // namespace traceloom
