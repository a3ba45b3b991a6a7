#include "analysis/waits/rank_waits.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace traceloom {

StepFinder::StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index)
    : times_(index.size()), steps_(index.size()) {
  for_each_shared(roles.steps, index, [&](std::size_t step, const StepRoles& found) {
    times_[step] = found.step.time;
  });
  std::iota(steps_.begin(), steps_.end(), std::size_t{0});
  std::sort(steps_.begin(), steps_.end(),
            [&](std::size_t a, std::size_t b) { return times_[a].from_ns < times_[b].from_ns; });
  windows_.reserve(steps_.size());
  for (const std::size_t step : steps_) windows_.push_back(times_[step]);
}

std::optional<std::size_t> StepFinder::step_at(std::int64_t ns) const {
  const auto next = std::ranges::upper_bound(windows_, ns, {}, &Interval::from_ns);
  if (next == windows_.begin() || ns >= (next - 1)->to_ns) return std::nullopt;
  return steps_[static_cast<std::size_t>(next - windows_.begin()) - 1];
}

std::vector<std::int64_t> StepFinder::totals(const Intervals& set) const {
  const std::vector<std::int64_t> by_begin = totals_in(set, windows_);
  std::vector<std::int64_t> totals(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) totals[steps_[i]] = by_begin[i];
  return totals;
}

namespace {

// Returns the parts of given times, which must ascend by their begin, that no work of the rank's
// devices hides. The roles must outlive it.
class ExposedTimes {
 public:
  explicit ExposedTimes(const RankRoles& roles)
      : work_{IntervalWindows(roles.sets[Role::kernel]), IntervalWindows(roles.sets[Role::memcpy]),
              IntervalWindows(roles.sets[Role::memset])} {}

  Intervals of(const Interval& time) {
    Intervals rest = unite({time});
    for (IntervalWindows& work : work_) rest = subtract(rest, work.in(time));
    return rest;
  }

 private:
  std::array<IntervalWindows, 3> work_;
};

// ExposedCommunication: how much more exposed communication one rank has than another.
//
// A wait that work of the device hides still delays later collectives, which are then no longer
// hidden. So the exposed communication of the waiting rank is longer than that of the rank it waits
// for. It may also be longer because the rank has more work in groups to which the other does not
// belong; the time of those, without waiting, does not count.

// Ranks are places in RankWaits::ranks. Its arguments must outlive it. Not thread-safe.
class ExposedCommunication {
 public:
  ExposedCommunication(const std::vector<Collective>& collectives,
                       const std::vector<RankRoles>& roles, const RankWaits& waits)
      : roles_(roles), waits_(waits), parts_(waits.ranks.size()) {
    const std::map<std::size_t, std::size_t> numbers = waits.numbers();
    for (const Collective& what : collectives) {
      const std::int64_t latency_ns = what.latency_ns();
      for (const CollectivePart& part : what.parts)
        if (const auto rank = numbers.find(part.rank); rank != numbers.end())
          parts_[rank->second][what.group].push_back({{part.start_ns, part.end_ns}, latency_ns});
    }
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      Groups groups;
      for (const auto& [group, parts] : parts_[rank]) groups.push_back(group);
      all_.push_back(&times_in(rank, std::move(groups)));
    }
  }

  // Compares one step of both ranks; negative if the communication of `rank` is shorter.
  std::int64_t longer_ns(std::size_t rank, std::size_t other, std::size_t step) {
    const StepTimes& own = times_without(rank, other);
    const StepTimes& others = times_without(other, rank);
    const std::int64_t more_ns = own.latency_ns[step] - others.latency_ns[step];
    const std::int64_t own_ns = std::clamp<std::int64_t>(more_ns, 0, own.exposed_ns[step]);
    const std::int64_t others_ns = std::clamp<std::int64_t>(-more_ns, 0, others.exposed_ns[step]);
    return (all_[rank]->exposed_ns[step] - own_ns) - (all_[other]->exposed_ns[step] - others_ns);
  }

 private:
  using Groups = std::vector<ProcessGroup>;
  // The times of a rank in some groups, by step.
  struct StepTimes {
    std::vector<std::int64_t> exposed_ns;
    std::vector<std::int64_t> latency_ns;  // time after all ranks had come
  };
  struct Part {
    Interval time;
    std::int64_t latency_ns;
  };

  const StepTimes& times_in(std::size_t rank, Groups groups) {
    const auto [times, is_new] = found_.try_emplace({rank, std::move(groups)});
    if (is_new) times->second = find_times(rank, times->first.second);
    return times->second;
  }

  // Returns the times in the groups to which the other rank does not belong. Most pairs have the
  // same groups.
  const StepTimes& times_without(std::size_t rank, std::size_t other) {
    const auto [pair, is_new] = without_.try_emplace({rank, other}, nullptr);
    if (!is_new) return *pair->second;
    Groups groups;
    for (const auto& [group, parts] : parts_[rank])
      if (parts_[other].count(group) == 0) groups.push_back(group);
    pair->second = &times_in(rank, std::move(groups));
    return *pair->second;
  }

  StepTimes find_times(std::size_t rank, const Groups& groups) const {
    const RankRoles& roles = roles_[waits_.ranks[rank]];
    const StepFinder steps(roles, waits_.step_index[rank]);
    StepTimes times;
    times.latency_ns.resize(waits_.steps.size());
    Intervals all;
    for (const ProcessGroup& group : groups)
      for (const Part& part : parts_[rank].at(group)) {
        all.push_back(part.time);
        if (const std::optional<std::size_t> step = steps.step_at(part.time.from_ns))
          add_to(times.latency_ns[*step], part.latency_ns);
      }
    ExposedTimes exposed(roles);
    Intervals shown;
    for (const Interval& time : unite(std::move(all))) {
      const Intervals rest = exposed.of(time);
      shown.insert(shown.end(), rest.begin(), rest.end());
    }
    times.exposed_ns = steps.totals(shown);
    return times;
  }

  const std::vector<RankRoles>& roles_;
  const RankWaits& waits_;
  std::vector<std::map<ProcessGroup, std::vector<Part>>> parts_;  // [rank]: keyed by group
  std::map<std::pair<std::size_t, Groups>, StepTimes> found_;
  std::vector<const StepTimes*> all_;  // [rank]
  std::map<std::pair<std::size_t, std::size_t>, const StepTimes*> without_;
};

constexpr double kLeastMatched = 0.5;  // share of a rank's time in communication
constexpr double kMostAfter = 0.25;    // share of a wait; with more, the rank waited for others
constexpr double kMostApart = 0.10;    // share of the steps by which ranks may differ in the
                                       // collectives that are left out

// A wait of one rank for another in one collective.
struct WaitPiece {
  std::size_t step;
  std::size_t waited_for;
  std::size_t waiting;
  Interval time;
  const Collective* what;
  const CollectivePart* last;
  const CollectivePart* part;
  Intervals exposed = {};  // part of the time that no work of the waiting rank's own devices hides
  Interval own = {};       // its end, for which the last rank had not waited for others itself
};

// The ends of a rank's parts of collectives, and the other ranks in them.
class Meetings {
 public:
  void add(const Collective& what, const CollectivePart& part) {
    ends_.emplace_back(part.end_ns, &what);
  }
  void sort() {
    std::ranges::stable_sort(ends_, [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  // Returns the end of the last collective with `other` (an index into Run::ranks) that was over at
  // `ns`.
  std::optional<std::int64_t> last_with(std::size_t other, std::int64_t ns) const {
    auto next = std::upper_bound(ends_.begin(), ends_.end(), ns,
                                 [](std::int64_t at, const auto& end) { return at < end.first; });
    while (next != ends_.begin()) {
      --next;
      const std::vector<CollectivePart>& parts = next->second->parts;  // sorted by rank
      const auto found = std::ranges::lower_bound(parts, other, {}, &CollectivePart::rank);
      if (found != parts.end() && found->rank == other) return next->first;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::int64_t, const Collective*>> ends_;
};

// The waits of one rank in one step, for one other rank or for all.
struct WaitTimes {
  Intervals all;
  Intervals exposed;
  std::int64_t longer_ns = 0;  // largest excess of its communication over that of a rank for which
                               // it waits

  // Exposed waits always count. Hidden waits delay later collectives, which are then no longer
  // hidden, so they count as far as the rank's exposed communication in the step is longer.
  std::int64_t felt_ns() const {
    const std::int64_t least_ns = total_ns(unite(exposed));
    return std::clamp(longer_ns, least_ns, std::max(least_ns, total_ns(unite(all))));
  }
};

// The state while the waits in collectives are computed.
class WaitFinder {
 public:
  WaitFinder(const std::vector<Collective>& matched, const std::vector<RankRoles>& roles,
             const RankWaits& waits)
      : waits_(waits),
        numbers_(waits.numbers()),
        communication_(matched, roles, waits),
        meetings_(waits.ranks.size()),
        exposed_(waits.ranks.size()) {
    for (std::size_t i = 0; i < waits.ranks.size(); ++i)
      finders_.emplace_back(roles[waits.ranks[i]], waits.step_index[i]);
    for (const Collective& what : matched) add_pieces(what);
    for (Meetings& rank : meetings_) rank.sort();
    find_exposed(roles);
  }

  MatchedWaits find() {
    MatchedWaits waits;
    waits.wait_ns.assign(waits_.ranks.size(), std::vector<std::int64_t>(waits_.steps.size(), 0));
    waits.delay_ns = waits.wait_ns;
    add_waits(waits);
    add_delays(waits);
    return waits;
  }

 private:
  void add_pieces(const Collective& what) {
    const CollectivePart& last = what.last(false);
    const auto waited_for = numbers_.find(last.rank);
    const std::optional<std::size_t> step =
        waited_for == numbers_.end() ? std::nullopt
                                     : finders_[waited_for->second].step_at(last.start_ns);
    for (const CollectivePart& part : what.parts) {
      const auto rank = numbers_.find(part.rank);
      if (rank == numbers_.end()) continue;
      meetings_[rank->second].add(what, part);
      if (!step || &part == &last) continue;
      pieces_.push_back({*step,
                         waited_for->second,
                         rank->second,
                         {part.start_ns, part.start_ns + what.wait_ns(part)},
                         &what,
                         &last,
                         &part});
    }
  }

  void find_exposed(const std::vector<RankRoles>& roles) {
    std::sort(pieces_.begin(), pieces_.end(), [](const WaitPiece& a, const WaitPiece& b) {
      return std::tuple(a.waiting, a.time.from_ns) < std::tuple(b.waiting, b.time.from_ns);
    });
    std::optional<ExposedTimes> exposed;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      WaitPiece& piece = pieces_[i];
      if (i == 0 || pieces_[i - 1].waiting != piece.waiting)
        exposed.emplace(roles[waits_.ranks[piece.waiting]]);
      piece.exposed = exposed->of(piece.time);
      Intervals& of_rank = exposed_[piece.waiting];
      of_rank.insert(of_rank.end(), piece.exposed.begin(), piece.exposed.end());
    }
    for (Intervals& of_rank : exposed_) {
      of_rank = unite(std::move(of_rank));
      waited_.emplace_back(of_rank);
    }
    find_own();
  }

  // Finds the end of each wait for which the last rank itself had not waited for others.
  void find_own() {
    for (WaitPiece& piece : pieces_) {
      const std::int64_t more_ns =
          waited_before(piece.waited_for, piece.waiting, piece.step, *piece.last) -
          waited_before(piece.waiting, piece.waited_for, piece.step, *piece.part);
      piece.own = piece.time;
      piece.own.from_ns += std::clamp<std::int64_t>(more_ns, 0, length_ns(piece.time));
      Intervals& of_pair = by_pair_[{piece.waiting, piece.waited_for}];
      for (const Interval& own : intersect(piece.exposed, unite({piece.own})))
        of_pair.push_back(own);
    }
    for (auto& [pair, waits] : by_pair_) {
      waits = unite(std::move(waits));
      waited_for_.emplace(pair, waits);
    }
  }

  // Returns the waits of the rank between its last collective with `other` and its part in this
  // one.
  std::int64_t waited_before(std::size_t rank, std::size_t other, std::size_t step,
                             const CollectivePart& part) {
    const std::optional<std::int64_t> met =
        meetings_[rank].last_with(waits_.ranks[other], part.start_ns);
    return waited_[rank].in({met.value_or(finders_[rank].time(step).from_ns), part.start_ns});
  }

  // Returns the least time that any rank in the collective still waits in the step, but for what is
  // again the own delay of the one that came last: if they had left earlier, they would have waited
  // that much longer for others.
  std::int64_t waited_after(const WaitPiece& piece) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const CollectivePart& part : piece.what->parts) {
      const auto rank = numbers_.find(part.rank);
      if (rank == numbers_.end()) continue;
      const Interval after{part.end_ns, finders_[rank->second].time(piece.step).to_ns};
      const auto own = waited_for_.find({rank->second, piece.waited_for});
      const std::int64_t own_ns = own == waited_for_.end() ? 0 : own->second.in(after);
      least = std::min(least, waited_[rank->second].in(after)-own_ns);
    }
    return least;
  }

  // Returns the end of the wait that is the last rank's own; empty if the others wait later, too.
  Interval own_fault(const WaitPiece& piece) {
    const auto [after, is_new] = waited_after_.try_emplace(piece.what, 0);
    if (is_new) after->second = waited_after(piece);
    const bool is_idle = static_cast<double>(after->second) >
                         kMostAfter * static_cast<double>(length_ns(piece.time));
    return is_idle ? Interval{piece.time.to_ns, piece.time.to_ns} : piece.own;
  }

  std::int64_t longer_ns(const WaitPiece& piece) {
    return communication_.longer_ns(piece.waiting, piece.waited_for, piece.step);
  }

  void add_waits(MatchedWaits& waits) {
    // keyed by step and waiting rank
    std::map<std::pair<std::size_t, std::size_t>, WaitTimes> waiting;
    for (const WaitPiece& piece : pieces_) {
      WaitTimes& times = waiting[{piece.step, piece.waiting}];
      times.all.push_back(piece.time);
      times.exposed.insert(times.exposed.end(), piece.exposed.begin(), piece.exposed.end());
      times.longer_ns = std::max(times.longer_ns, longer_ns(piece));
    }
    for (const auto& [key, times] : waiting) waits.wait_ns[key.second][key.first] = times.felt_ns();
  }

  // Finds the least wait among the ranks that wait for a rank in a step.
  void add_delays(MatchedWaits& waits) {
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, WaitTimes> waiting;
    for (const WaitPiece& piece : pieces_) {
      WaitTimes& times = waiting[{piece.step, piece.waited_for, piece.waiting}];
      const Interval fault = own_fault(piece);
      const Intervals exposed = intersect(piece.exposed, unite({fault}));
      times.all.push_back(fault);
      times.exposed.insert(times.exposed.end(), exposed.begin(), exposed.end());
      times.longer_ns = longer_ns(piece);
    }
    // keyed by step and the rank waited for
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> least;
    for (const auto& [key, times] : waiting) {
      const std::int64_t ns = times.felt_ns();
      const auto [found, is_new] = least.try_emplace({std::get<0>(key), std::get<1>(key)}, ns);
      if (!is_new) found->second = std::min(found->second, ns);
    }
    for (const auto& [key, ns] : least) waits.delay_ns[key.second][key.first] = ns;
  }

  const RankWaits& waits_;
  std::map<std::size_t, std::size_t> numbers_;
  ExposedCommunication communication_;
  std::vector<StepFinder> finders_;
  std::vector<Meetings> meetings_;
  std::vector<Intervals> exposed_;       // [rank]: waits that no work hides
  std::vector<IntervalLengths> waited_;  // [rank]: their lengths
  // The own delays of a rank, by the waiting rank and that one.
  std::map<std::pair<std::size_t, std::size_t>, Intervals> by_pair_;
  std::map<std::pair<std::size_t, std::size_t>, IntervalLengths> waited_for_;
  std::vector<WaitPiece> pieces_;
  std::map<const Collective*, std::int64_t> waited_after_;
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

// True if the time of ranks in broadcasts and the like differs so much that they wait for each
// other in these, too.
bool holds_waits(const std::vector<Collective>& with_root, const std::vector<RankRoles>& roles,
                 const RankWaits& waits) {
  std::vector<std::int64_t> spent(waits.ranks.size(), 0);
  const std::map<std::size_t, std::size_t> numbers = waits.numbers();
  for (const Collective& what : with_root)
    for (const CollectivePart& part : what.parts)
      if (const auto rank = numbers.find(part.rank); rank != numbers.end())
        add_to(spent[rank->second], part.end_ns - part.start_ns);
  std::int64_t steps_ns = 0;
  for_each_shared(roles[waits.ranks.front()].steps, waits.step_index.front(),
                  [&](std::size_t, const StepRoles& step) { add_to(steps_ns, step.total_ns); });
  const auto [least, most] = std::minmax_element(spent.begin(), spent.end());
  return static_cast<double>(*most - *least) > kMostApart * static_cast<double>(steps_ns);
}

}  // namespace

std::optional<MatchedWaits> find_matched_waits(const MatchedCollectives& collectives,
                                               const std::vector<RankRoles>& roles,
                                               const RankWaits& waits) {
  std::vector<Collective> matched;
  std::vector<Collective> with_root;
  for (const Collective& what : collectives.matched)
    if (what.complete) (what.all_wait_for_all() ? matched : with_root).push_back(what);
  if (matched.empty() || !covers_most(matched, roles, waits.ranks)) return std::nullopt;
  if (holds_waits(with_root, roles, waits)) return std::nullopt;
  return WaitFinder(matched, roles, waits).find();
}

}  // namespace traceloom
