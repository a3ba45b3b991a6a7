#include "base/arithmetic.h"
#include "base/units.h"
#include "clock/collective_rounds.h"
#include "identity/clocks/clock_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

using Outcome = CollectiveFit::Outcome;
// Smaller shifts have no line of their own: ranks on one host leave a collective that far apart.
constexpr std::int64_t kSmallNs = 10'000;
constexpr std::size_t kMostOffsets = 8;

std::string clocks_of(const std::set<std::int64_t>& ranks) {
  return fmt::format("{} of {}", plural(ranks.size(), "clock"),
                     ranks_words(ranks, RankStyle::named));
}

// Nothing is claimed of a clock that was set while it ran.
void forget_error(FileClock& clock) {
  if (standing_of(clock) == Standing::fixed) return;
  clock.error_ns.reset();
  clock.worst_error_ns.reset();
}

bool is_conflict(const Island& island, const CollectiveFit& fit) {
  return fit.outcome == Outcome::contradiction &&
         (fit.was_set || fit.excess_slope != 0 || names_groups(island));
}

// True if the shift exceeds the least error that can be claimed. A clock within that stays: ranks
// of one host, whose clock is the same, would be moved apart by what their ends scatter.
bool is_off(const CollectiveFit& fit) {
  return fit.outcome == Outcome::fitted && std::abs(fit.ahead_ns) > fit.least_error_ns;
}

// Returns the island with another reference.
Island with_reference(Island island, std::size_t index) {
  const auto begin = island.files.begin();
  const auto place = begin + static_cast<std::ptrdiff_t>(index);
  std::rotate(begin, place, place + 1);
  for (CollectiveRound& round : island.rounds)
    for (RoundPart& part : round.parts)
      if (part.clock <= index) part.clock = part.clock == index ? 0 : part.clock + 1;
  return island;
}

// Collectives that do not name their group may belong to several groups.
std::string conflict_words(const Island& island, const std::set<std::int64_t>& ranks,
                           const CollectiveFit& fit, const std::vector<std::string>& offsets) {
  if (!is_conflict(island, fit))
    return fmt::format("{}: collectives that do not say their group contradict each other",
                       clocks_of(ranks));
  if (fit.excess_slope != 0)
    return fmt::format("{}: collectives show a drift of {:+.0f} ppm, which clocks do not have",
                       clocks_of(ranks), fit.excess_slope * 1e6);
  // If clocks contradict each other in a circle, the change of one of them is not known.
  if (fit.change_ns == 0)
    return fmt::format("{}: what collectives with different ranks allow contradicts itself",
                       clocks_of(ranks));
  return fmt::format(
      "{}: what collectives allow before and after contradicts itself by {}{}{}; {}",
      clocks_of(ranks), fit.is_least_change ? "at least " : "", format_duration(fit.change_ns),
      names_groups(island) ? "" : " (or they are of several groups, which they do not say)",
      offsets.empty() ? "no offset fits all of them"
                      : fmt::format("trace-merge {} brings the last of them together",
                                    fmt::join(offsets, " ")));
}

class CollectiveAligner {
 public:
  CollectiveAligner(const ClockedFiles& files, const ClockOptions& options)
      : files_(files), options_(options), facts_(files.facts), clocks_(files.clocks) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      times_.push_back(files.times(i));
      files_of_[facts_[i].rank].push_back(i);
    }
  }

  // An island that has a rank of earlier ones comes next, because that rank is its bridge to them.
  void run() {
    std::vector<Island> islands = find_islands(files_);
    if (islands.size() > 1) find_runs_of_ranks();
    std::map<std::int64_t, std::vector<std::size_t>> islands_of;
    std::set<std::size_t> left;
    std::set<std::size_t> linked;
    for (std::size_t i = 0; i < islands.size(); ++i) {
      left.insert(i);
      for (const std::int64_t rank : ranks_of(islands[i])) islands_of[rank].push_back(i);
    }
    for (bool is_first = true; !left.empty(); is_first = false) {
      const bool is_linked = is_first || !linked.empty();
      const std::size_t next = linked.empty() ? *left.begin() : *linked.begin();
      left.erase(next);
      linked.erase(next);
      Island& island = islands[next];
      const std::set<std::int64_t> ranks = ranks_of(island);
      settle(island, is_linked);
      if (!is_linked) report_unconnected(island, islands.front());
      for (const std::int64_t rank : ranks) {
        for (const std::size_t run : runs_of_[rank]) is_run_placed_[run] = true;
        for (const std::size_t other : islands_of[rank])
          if (left.contains(other)) linked.insert(other);
      }
    }
  }

 private:
  std::vector<std::int64_t> ranks_of(std::size_t file) const {
    return facts_[file].ranks.empty() ? std::vector{facts_[file].rank} : facts_[file].ranks;
  }

  std::set<std::int64_t> ranks_of(const Island& island) const {
    std::set<std::int64_t> all;
    for (const std::size_t file : island.files) {
      const std::vector<std::int64_t> ranks = ranks_of(file);
      all.insert(ranks.begin(), ranks.end());
    }
    return all;
  }

  std::vector<CollectiveFit> fit_to_reference(const Island& island) const {
    const CommonTimes whole = files_.times(island.files.front());
    const std::int64_t middle_ns = std::midpoint(whole.first_ns, whole.last_ns);
    return fit_clocks(island.files.size(), 0, middle_ns, island.rounds);
  }

  // Clocks that all contradict the reference and not each other show that the reference was set.
  // The next file is the reference then, if its clock is as good. An offset that the user gave is
  // no reference for clocks that contradict it: it was given because that clock was set.
  std::vector<CollectiveFit> fit(Island& island) const {
    std::vector<CollectiveFit> fits = fit_to_reference(island);
    const auto blamed = static_cast<std::size_t>(std::ranges::count(
        fits, Outcome::contradiction, [](const CollectiveFit& fit) { return fit.outcome; }));
    const auto other =
        std::ranges::find_if(island.files, [this](std::size_t file) { return !is_given(file); });
    if (blamed > 0 && other != island.files.begin() && other != island.files.end()) {
      Island turned =
          with_reference(island, static_cast<std::size_t>(other - island.files.begin()));
      std::vector<CollectiveFit> better = fit_to_reference(turned);
      if (blames_given(turned, better, blamed)) {
        island = std::move(turned);
        return better;
      }
    }
    const auto contradicts = [](const CollectiveFit& fit) {
      return fit.outcome == Outcome::contradiction || fit.outcome == Outcome::reference;
    };
    if (fits.size() < 3 || !std::ranges::all_of(fits, contradicts) ||
        standing_of(clocks_[island.files[0]]) != standing_of(clocks_[island.files[1]]))
      return fits;
    Island turned = with_reference(island, 1);
    std::vector<CollectiveFit> better = fit_to_reference(turned);
    if (std::ranges::all_of(better, contradicts)) return fits;
    island = std::move(turned);
    return better;
  }

  bool is_given(std::size_t file) const { return clocks_[file].method == ClockMethod::given; }

  // True if some clocks contradict the others, at most so many, and the user gave the offsets of
  // all of them.
  bool blames_given(const Island& island, const std::vector<CollectiveFit>& fits,
                    std::size_t most) const {
    std::size_t blamed = 0;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (fits[i].outcome != Outcome::contradiction) continue;
      if (!is_given(island.files[i])) return false;
      ++blamed;
    }
    return blamed > 0 && blamed <= most;
  }

  void settle(Island& island, bool is_linked) {
    take_proven_reference(island);
    if (island.files.size() < 2) {
      if (proven_.empty()) prove(island.files.front());
      return;
    }
    follow_companions(island);
    const std::vector<CollectiveFit> fits = fit(island);
    const bool moves = contradicts_clocks(island, fits);
    if (moves) tell_shift(island, fits);
    const std::size_t reference = island.files.front();
    const std::int64_t error_ns =
        companions_.contains(reference) ? clocks_[reference].error_ns.value_or(0) : 0;
    for (std::size_t i = 0; i < island.files.size(); ++i) {
      const std::size_t file = island.files[i];
      const CollectiveFit& fit = fits[i];
      if (is_conflict(island, fit)) forget_error(clocks_[file]);
      if (fit.outcome == Outcome::contradiction || fit.outcome == Outcome::unconnected) continue;
      const bool is_moved = moves && is_off(fit) && standing_of(clocks_[file]) != Standing::fixed;
      note(file, fit, is_moved, file == reference ? 0 : error_ns);
      if (is_moved) move(file, fit);
      if (!is_linked) forget_errors(clocks_[file]);
    }
    for (std::size_t i = 0; i < island.files.size(); ++i)
      if (fits[i].outcome == Outcome::reference || fits[i].outcome == Outcome::fitted)
        prove(island.files[i]);
    move_companions(island);
    tell_conflicts(island, fits);
  }

  // The errors refer to another reference, so they are dropped.
  static void forget_errors(FileClock& clock) {
    clock.collectives.reset();
    if (standing_of(clock) == Standing::absolute) forget_error(clock);
  }

  // Stores the estimate. A file that keeps its clock because of better evidence also keeps its
  // error.
  void note(std::size_t file, const CollectiveFit& fit, bool is_moved,
            std::int64_t reference_error_ns) {
    FileClock& clock = clocks_[file];
    const std::int64_t along_ns = along(file);
    CollectiveEstimate& found = clock.collectives.emplace();
    found.shift_ns = -saturating_add(along_ns, fit.ahead_ns);
    found.residual_p50_ns = fit.residual_p50_ns;
    found.residual_p95_ns = fit.residual_p95_ns;
    found.bound_ns = fit.bound_ns();
    found.is_used = is_moved || along_ns != 0;
    const bool is_placed = is_moved || (along_ns != 0 && fit.outcome == Outcome::fitted);
    if (standing_of(clock) == Standing::fixed || (clock.error_ns && !is_placed)) return;
    clock.error_ns = saturating_add(fit.error_ns(is_moved ? fit.ahead_ns : 0), reference_error_ns);
    const double half_ns =
        static_cast<double>(saturating_subtract(times_[file].last_ns, times_[file].first_ns)) / 2;
    const double drift_ns = half_ns * (std::abs(fit.slope) + fit.slope_error);
    clock.worst_error_ns =
        saturating_add(*clock.error_ns, static_cast<std::int64_t>(std::ceil(drift_ns)));
    if (std::abs(fit.slope) > fit.slope_error) clock.drift_ppm = std::round(fit.slope * 1e9) / 1e3;
  }

  // Moves the clock of a file. With DriftMode::linear it also corrects the drift, from the file's
  // first event to its last one.
  void move(std::size_t file, const CollectiveFit& fit) {
    FileClock& clock = clocks_[file];
    const Standing standing = standing_of(clock);
    clock.method = ClockMethod::collectives;
    clock.offset_ns = saturating_subtract(clock.offset_ns, fit.ahead_ns);
    clock.problems.forget(Problem::no_clock);
    const std::int64_t base_ns = facts_[file].base_ns.value_or(0);
    const std::int64_t total_ns = saturating_add(along(file), fit.ahead_ns);
    const CommonTimes& times = times_[file];
    if (options_.drift == DriftMode::linear && clock.drift_ppm && standing == Standing::absolute &&
        times.first_ns < times.last_ns) {
      const double half_ns =
          static_cast<double>(saturating_subtract(times.last_ns, times.first_ns)) / 2;
      const std::int64_t gained_ns = std::llround(fit.slope * half_ns);
      clock.times = TimeMap(base_ns, base_ns,
                            std::make_shared<const TimeMap::Line>(std::vector<TimeMap::Knot>{
                                {times.first_ns, saturating_add(-total_ns, gained_ns)},
                                {times.last_ns, saturating_subtract(-total_ns, gained_ns)}}));
      clock.worst_error_ns = saturating_add(
          *clock.error_ns, static_cast<std::int64_t>(std::ceil(half_ns * fit.slope_error)));
    } else {
      clock.times = clock.times.since(fit.ahead_ns);
    }
  }

  // The lead that was taken from the clock of a file along with another one of its rank.
  std::int64_t along(std::size_t file) const {
    const auto found = companions_.find(file);
    return found == companions_.end() ? 0 : found->second.ahead_ns;
  }

  // A merge says nothing of the clocks that its ranks had.
  void prove(std::size_t file) {
    if (facts_[file].is_merged) return;
    const CollectiveEstimate estimate = clocks_[file].collectives.value_or(CollectiveEstimate());
    proven_[facts_[file].rank].push_back({file, estimate.is_used ? -estimate.shift_ns : 0});
  }

  // A file of a rank that is proven is a better reference than one of a rank that is not, if its
  // clock is as good.
  void take_proven_reference(Island& island) const {
    const auto is_proven = [&](std::size_t file) {
      return !facts_[file].is_merged && proven_.contains(facts_[file].rank);
    };
    const Standing best = standing_of(clocks_[island.files.front()]);
    for (std::size_t i = 0; i < island.files.size(); ++i) {
      if (!is_proven(island.files[i]) || standing_of(clocks_[island.files[i]]) > best) continue;
      if (i > 0) island = with_reference(std::move(island), i);
      return;
    }
  }

  // The collectives were found before files were moved along with others.
  void follow_companions(Island& island) const {
    for (CollectiveRound& round : island.rounds)
      for (RoundPart& part : round.parts) {
        const std::int64_t ahead_ns = along(island.files[part.clock]);
        part.begin_ns = saturating_subtract(part.begin_ns, ahead_ns);
        part.end_ns = saturating_subtract(part.end_ns, ahead_ns);
      }
  }

  // Gives the other files of these ranks the clock of the nearest file that collectives have
  // proven, until their own ones place them.
  void move_companions(const Island& island) {
    for (const std::int64_t rank : ranks_of(island))
      for (const std::size_t file : files_of_[rank]) {
        if (clocks_[file].collectives || facts_[file].is_merged || files_.starts(file).empty() ||
            standing_of(clocks_[file]) != Standing::absolute)
          continue;
        const auto away_ns = [&](const Proven& one) {
          return std::abs(saturating_subtract(times_[one.file].first_ns, times_[file].first_ns) /
                          2);
        };
        const auto nearest = std::ranges::min_element(proven_[rank], {}, away_ns);
        if (nearest == proven_[rank].end() || nearest->ahead_ns == along(file)) continue;
        FileClock& clock = clocks_[file];
        Companion& own =
            companions_.try_emplace(file, Companion{clock.method, clock.error_ns, 0}).first->second;
        const std::int64_t more_ns = saturating_subtract(nearest->ahead_ns, own.ahead_ns);
        own.ahead_ns = nearest->ahead_ns;
        clock.offset_ns = saturating_subtract(clock.offset_ns, more_ns);
        clock.times = clock.times.since(more_ns);
        clock.method = own.ahead_ns == 0 ? own.method : ClockMethod::collectives;
        clock.error_ns = own.error_ns;
        if (own.ahead_ns != 0 && clocks_[nearest->file].error_ns)
          clock.error_ns = saturating_add(*clocks_[nearest->file].error_ns,
                                          2 * away_ns(*nearest) / 1'000'000 * kWorstDriftPpm);
        clock.worst_error_ns = clock.error_ns;
      }
  }

  // Reports all ranks that are moved. Those that are moved by no more than 10 us, or than what the
  // ends are still apart afterwards, share a clause.
  void tell_shift(const Island& island, const std::vector<CollectiveFit>& fits) {
    const auto is_moved = [&](std::size_t i) {
      return is_off(fits[i]) && standing_of(clocks_[island.files[i]]) != Standing::fixed;
    };
    std::int64_t most_ns = 0;
    for (std::size_t i = 1; i < fits.size(); ++i)
      if (is_moved(i)) most_ns = std::max(most_ns, std::abs(fits[i].ahead_ns));
    std::vector<RankShift> shifts;
    for (std::size_t i = 1; i < island.files.size(); ++i) {
      const std::size_t file = island.files[i];
      if (!is_moved(i)) continue;
      const std::int64_t total_ns = saturating_add(along(file), fits[i].ahead_ns);
      const std::int64_t ahead_ns = std::abs(total_ns);
      if (ahead_ns <= fits[i].least_error_ns) continue;  // it is where it was
      const bool is_small =
          ahead_ns <= std::max(fits[i].residual_p95_ns, kSmallNs) && ahead_ns != most_ns;
      shifts.push_back({file, ranks_of(file), -total_ns, fits[i].bound_ns(),
                        !fits[i].ahead.holds(0) && ahead_ns > fits[i].bound_ns(), is_small});
    }
    if (shifts.empty()) return;
    for (const ShiftLine& line : shift_lines(std::move(shifts), end_spread(island, fits)))
      clocks_[line.file].problems.add(Problem::shifted_clock, 0, line.files, line.words);
  }

  // Reports once for all ranks whose clocks were set by a similar amount, as those of one host are.
  void tell_conflicts(const Island& island, const std::vector<CollectiveFit>& fits) {
    // Keyed by whether it is a conflict, whether it is a drift, whether the clock came back, and by
    // the approximate amount.
    using Kind = std::tuple<bool, bool, bool, std::int64_t>;
    std::map<Kind, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      const CollectiveFit& fit = fits[i];
      if (fit.outcome != Outcome::contradiction) continue;
      const bool is_drift = fit.excess_slope != 0;
      const std::int64_t amount = is_drift ? std::llround(fit.excess_slope * 1e9) : fit.change_ns;
      const Kind kind(is_conflict(island, fit), is_drift, fit.came_back, amount);
      const auto known = std::ranges::find_if(alike, [&](const auto& one) {
        const auto& [other_conflict, other_drift, other_came_back, other_amount] = one.first;
        return std::tuple(other_conflict, other_drift, other_came_back) ==
                   std::tuple(is_conflict(island, fit), is_drift, fit.came_back) &&
               std::abs(other_amount - amount) <= std::abs(amount) / 10;
      });
      alike[known == alike.end() ? kind : known->first].push_back(i);
    }
    // An offset that the user gave fits the first of them or the last; another one does the same.
    const bool any_given =
        std::ranges::any_of(island.files, [this](std::size_t file) { return is_given(file); });
    for (const auto& [kind, members] : alike) {
      std::set<std::int64_t> ranks;
      std::set<std::int64_t> named;  // by the number that --offset takes
      std::vector<std::string> offsets;
      for (const std::size_t i : members) {
        const std::vector<std::int64_t> own = ranks_of(island.files[i]);
        ranks.insert(own.begin(), own.end());
        if (!any_given && !fits[i].came_back && named.insert(facts_[island.files[i]].rank).second &&
            offsets.size() < kMostOffsets)
          offsets.push_back(
              offset_option(facts_[island.files[i]], clocks_[island.files[i]], fits[i].ahead_ns));
      }
      FileClock& first = clocks_[island.files[members.front()]];
      const Problem problem =
          std::get<0>(kind) ? Problem::clock_conflict : Problem::vague_collectives;
      first.problems.add(problem, 0, members.size(),
                         conflict_words(island, ranks, fits[members.front()], offsets));
    }
  }

  void find_runs_of_ranks() {
    for (const std::set<std::int64_t>& run : find_runs(files_)) {
      for (const std::int64_t rank : run) runs_of_[rank].push_back(is_run_placed_.size());
      is_run_placed_.push_back(false);
    }
  }

  // Traces of different runs may be merged on purpose, and a clock sync places ranks without
  // collectives, so neither is worth a notice.
  void report_unconnected(const Island& island, const Island& of_reference) {
    FileClock& first = clocks_[island.files.front()];
    if (standing_of(first) == Standing::fixed) return;
    const std::set<std::int64_t> ranks = ranks_of(island);
    const bool of_one_run = std::ranges::any_of(ranks, [this](std::int64_t rank) {
      return std::ranges::any_of(runs_of_[rank],
                                 [this](std::size_t run) { return is_run_placed_[run]; });
    });
    const bool is_proven = standing_of(first) == Standing::by_sync;
    const Problem problem =
        of_one_run && !is_proven ? Problem::no_common_collective : Problem::vague_collectives;
    first.problems.add(
        problem, 0, ranks.size(),
        fmt::format("clock of {} against rank {}: they have no collective in common",
                    ranks_words(ranks, RankStyle::named), facts_[of_reference.files.front()].rank));
  }

  // A file that was moved along with another one of its rank, and what it had before.
  struct Companion {
    ClockMethod method;
    std::optional<std::int64_t> error_ns;
    std::int64_t ahead_ns;
  };
  // A file whose clock collectives connect with the reference, and the lead that they took from it.
  struct Proven {
    std::size_t file;
    std::int64_t ahead_ns;
  };

  const ClockedFiles& files_;
  const ClockOptions& options_;
  const std::vector<ClockFacts>& facts_;
  std::vector<FileClock>& clocks_;
  std::vector<CommonTimes> times_;  // times of each file, on its clock before the alignment
  std::map<std::int64_t, std::vector<std::size_t>> files_of_;  // the files of a rank
  std::map<std::int64_t, std::vector<std::size_t>> runs_of_;   // the runs of a rank
  std::map<std::size_t, Companion> companions_;                // by file
  std::map<std::int64_t, std::vector<Proven>> proven_;         // by rank
  std::vector<bool> is_run_placed_;  // the run has a rank of an island that came before
};

}  // namespace

void align_by_collectives(const ClockedFiles& files, const ClockOptions& options) {
  if (options.align_by == AlignBy::any) CollectiveAligner(files, options).run();
}

}  // namespace traceloom
