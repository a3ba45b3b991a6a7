#include "clock/cycle_shifts.h"

#include "base/arithmetic.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace traceloom {
namespace {

// True for "ep0-ba12".
bool is_batch_name(std::string_view name) {
  const auto take = [&](std::string_view word) {
    if (!name.starts_with(word)) return false;
    name.remove_prefix(word.size());
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits > 0;
  };
  return take("ep") && take("-ba") && name.empty();
}

bool tells_batch(const RankSync& sync) {
  return std::ranges::any_of(sync.labels,
                             [](const CycleLabel& label) { return is_batch_name(label.first); });
}

// Finds the syncs that are stamps of one moment.
class SyncMatcher {
 public:
  SyncMatcher(const std::vector<ClockFacts>& files, SyncCycles& found)
      : files_(files), found_(found), cycles_(found.all_cycles) {}

  // Returns all ranks with a sync. Each comes after the ranks through which its cycles were found,
  // otherwise in ascending order.
  std::vector<std::int64_t> run(const std::vector<bool>& wants_sync) {
    gather_syncs(wants_sync);
    place_all();
    gather_cycles();
    return std::move(ranks_);
  }

 private:
  void gather_syncs(const std::vector<bool>& wants_sync) {
    std::map<std::int64_t, std::map<std::int64_t, RankSync>> by_value;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const ClockFacts& file = files_[i];
      if (!wants_sync[i] || !file.sync_us) continue;
      const std::optional<std::int64_t> ns = us_to_ns(*file.sync_us);
      if (ns && is_usable_stamp(*ns))
        by_value[file.rank][*ns].files.push_back(i);
      else
        found_.bad_syncs.push_back(i);
    }
    for (auto& [rank, values] : by_value) {
      std::map<std::string, std::size_t> met;
      for (auto& [ns, sync] : values) {
        sync.ns = ns;
        sync.facts = facts_of(sync);
        std::set<std::string> names;
        for (const std::size_t file : sync.files) names.insert(files_[file].cycle);
        names.erase("");
        for (const std::string& name : names) sync.labels.emplace(name, met[name]++);
        for (const CycleLabel& label : sync.labels) ranks_of_label_[label].push_back(rank);
        found_.of_rank[rank].push_back(&found_.all_syncs.emplace_back(std::move(sync)));
      }
    }
  }

  const ClockFacts* facts_of(const RankSync& sync) const {
    for (const std::size_t file : sync.files)
      if (!files_[file].rounds.empty() || files_[file].machine) return &files_[file];
    return &files_[sync.files.front()];
  }

  // Ranks that share a cycle with placed ranks come before ranks that share none.
  void place_all() {
    for (const auto& [rank, syncs] : found_.of_rank) waiting_.insert(rank);
    while (!waiting_.empty()) {
      const std::int64_t rank = linked_.empty() ? *waiting_.begin() : *linked_.begin();
      waiting_.erase(rank);
      linked_.erase(rank);
      ranks_.push_back(rank);
      place(found_.of_rank[rank]);
    }
  }

  // The first rank is the reference: there is no cycle yet, so each of its syncs starts one,
  // unshifted. Leaves the syncs that have a place.
  void place(std::vector<RankSync*>& syncs) {
    const auto has_no_place = [](const RankSync* sync) { return sync->cycle == nullptr; };
    const bool is_reference = cycles_.empty();
    if (!find_by_label(syncs) && may_go_by_order(syncs)) find_by_order(syncs);
    std::vector<RankSync*> known = syncs;
    std::erase_if(known, has_no_place);
    for (RankSync* const sync : syncs) {
      if (sync->cycle != nullptr) continue;
      const RankSync* const neighbour = nearest_sync(known, sync->ns);
      if (neighbour == nullptr)
        add_cycle(*sync, 0, is_reference, is_reference);
      else
        add_cycle(*sync, neighbour->cycle->moment_ns - neighbour->ns, false,
                  neighbour->cycle->is_linked);
    }
    std::erase_if(syncs, has_no_place);
    for (const RankSync* sync : syncs) sync->cycle->ranks.merge(ranks_with(*sync));
  }

  bool find_by_label(const std::vector<RankSync*>& syncs) const {
    std::set<const SyncCycle*> taken;
    for (RankSync* const sync : syncs) {
      for (const CycleLabel& label : sync->labels) {
        const auto known = cycle_of_label_.find(label);
        if (sync->cycle == nullptr && known != cycle_of_label_.end() &&
            taken.insert(known->second).second)
          sync->cycle = known->second;
      }
    }
    return !taken.empty();
  }

  // True if order may be used: names that are not Composer's may contain the host or the run, but
  // different batches are different moments.
  bool may_go_by_order(const std::vector<RankSync*>& syncs) const {
    return has_vague_cycle_ ||
           !std::ranges::all_of(syncs, [](const RankSync* sync) { return tells_batch(*sync); });
  }

  // A rank is in a cycle once: a merge of ranks holds them all in its cycle.
  void find_by_order(const std::vector<RankSync*>& syncs) {
    std::vector<SyncCycle*> order;
    for (SyncCycle& cycle : cycles_) order.push_back(&cycle);
    std::ranges::stable_sort(order, {}, &SyncCycle::moment_ns);
    auto next = order.begin();
    for (RankSync* const sync : syncs) {
      const std::set<std::int64_t> ranks = ranks_with(*sync);
      next = std::find_if(next, order.end(), [&](const SyncCycle* cycle) {
        return std::ranges::none_of(ranks,
                                    [&](std::int64_t rank) { return cycle->ranks.contains(rank); });
      });
      if (next == order.end()) return;
      join(*sync, **next++);
    }
  }

  std::set<std::int64_t> ranks_with(const RankSync& sync) const {
    std::set<std::int64_t> ranks;
    for (const std::size_t file : sync.files) {
      ranks.insert(files_[file].rank);
      ranks.insert(files_[file].ranks.begin(), files_[file].ranks.end());
    }
    return ranks;
  }

  void add_cycle(RankSync& sync, std::int64_t shift_ns, bool is_of_reference, bool is_linked) {
    const std::optional<std::int64_t> moment = sum(sync.ns, shift_ns);
    if (!moment || !is_usable_stamp(*moment)) {
      found_.bad_syncs.insert(found_.bad_syncs.end(), sync.files.begin(), sync.files.end());
      return;
    }
    has_vague_cycle_ |= !tells_batch(sync);
    join(sync,
         cycles_.emplace_back(SyncCycle{cycles_.size(), *moment, is_of_reference, is_linked}));
  }

  void join(RankSync& sync, SyncCycle& cycle) {
    sync.cycle = &cycle;
    for (const CycleLabel& label : sync.labels) {
      if (!cycle_of_label_.emplace(label, &cycle).second) continue;
      for (const std::int64_t rank : ranks_of_label_[label])
        if (waiting_.contains(rank)) linked_.insert(rank);
    }
  }

  void gather_cycles() {
    std::map<SyncCycle*, std::optional<std::int64_t>> bounds_us;
    for (const std::int64_t rank : ranks_) {
      for (RankSync* const sync : found_.of_rank[rank]) {
        sync->cycle->syncs.push_back(sync);
        for (const std::size_t file : sync->files) {
          found_.own[file] = sync;
          const std::optional<std::int64_t>& bound = files_[file].error_bound_us;
          if (bound && *bound >= 0) keep_least(bounds_us[sync->cycle], bound);
        }
      }
    }
    for (const auto& [cycle, bound_us] : bounds_us)
      if (const std::optional<std::int64_t> us = sum(*bound_us, 1)) cycle->error_ns = us_to_ns(*us);
  }

  const std::vector<ClockFacts>& files_;
  SyncCycles& found_;
  std::deque<SyncCycle>& cycles_;
  std::map<CycleLabel, SyncCycle*> cycle_of_label_;
  std::map<CycleLabel, std::vector<std::int64_t>> ranks_of_label_;
  std::set<std::int64_t> waiting_;  // ranks that have no place yet
  std::set<std::int64_t> linked_;   // waiting ranks that have a label of cycle_of_label_
  bool has_vague_cycle_ = false;    // a known cycle has no name of a batch
  std::vector<std::int64_t> ranks_;
};

// A stamp is in whole microseconds.
constexpr std::int64_t kStampErrorNs = 1000;

std::string clock_of(const RankSync& sync) {
  return sync.machine != nullptr ? sync.machine->id : fmt::format("rank {}", sync.facts->rank);
}

ClockRange ahead_of_clock(const RankSync& sync) {
  return sync.machine != nullptr ? sync.machine->ahead : ClockRange{};
}

std::map<std::string, CycleRounds> stamps_of(const SyncCycle& cycle) {
  std::map<std::string, CycleRounds> stamps;
  const auto add = [](SyncRounds& known, const std::optional<SyncRounds>& rounds) {
    if (!rounds || rounds->empty()) return;
    if (known.empty())
      known = *rounds;
    else
      join(known, *rounds);
  };
  for (const RankSync* sync : cycle.syncs) {
    CycleRounds& on_clock = stamps[clock_of(*sync)];
    add(on_clock.start, on_machine(sync->facts->rounds.start, ahead_of_clock(*sync)));
    add(on_clock.end, on_machine(sync->facts->rounds.end, ahead_of_clock(*sync)));
  }
  return stamps;
}

// A machine is used if several ranks share it and its clock is a single one.
void find_clocks(SyncCycle& cycle) {
  std::map<std::string, int> ranks_on;
  for (const RankSync* sync : cycle.syncs)
    if (sync->facts->machine) ++ranks_on[sync->facts->machine->id];
  for (RankSync* const sync : cycle.syncs)
    if (sync->facts->machine && ranks_on[sync->facts->machine->id] > 1)
      sync->machine = &*sync->facts->machine;
  cycle.stamps = stamps_of(cycle);
  bool is_odd = false;
  for (const auto& [clock, stamped] : cycle.stamps) {
    if (is_possible(stamped.start) && is_possible(stamped.end)) continue;
    is_odd = true;
    for (RankSync* const sync : cycle.syncs)
      if (sync->machine != nullptr && sync->machine->id == clock) sync->machine = nullptr;
  }
  if (is_odd) cycle.stamps = stamps_of(cycle);
}

// Interpolates between the neighbouring syncs if the clock only drifted from one to the other.
std::optional<SyncPoint> on_line(const RankSync& sync, const std::vector<RankSync*>& found) {
  const auto after = std::ranges::upper_bound(found, sync.ns, {}, &RankSync::ns);
  if (after == found.begin() || after == found.end()) return std::nullopt;
  const SyncPoint& earlier = (*std::prev(after))->shift.points.back();
  const SyncPoint& later = (*after)->shift.points.front();
  if (earlier.at_ns >= sync.ns || later.at_ns <= sync.ns ||
      change_between(earlier, later) != ClockChange::drift)
    return std::nullopt;
  const TimeMap line(0, 0, drifts_of({earlier, later}).front().line);
  return SyncPoint{sync.ns, line.mapped_or_same(sync.ns) - sync.ns,
                   std::max(earlier.error_ns, later.error_ns)};
}

// The error of its point is added to the errors of all ranks that are aligned through it. `found`
// holds the syncs of its rank in cycles of earlier ranks, by time.
CycleShift first_shift(const RankSync& sync, const std::vector<RankSync*>& found) {
  SyncPoint point{sync.ns, 0, 0};
  if (const std::optional<SyncPoint> between = on_line(sync, found)) {
    point = *between;
  } else if (const RankSync* const neighbour = nearest_sync(found, sync.ns)) {
    const std::vector<SyncPoint>& known = neighbour->shift.points;
    point.shift_ns = (sync.ns < neighbour->ns ? known.front() : known.back()).shift_ns;
    point.error_ns = neighbour->shift.error_ns.value_or(kStampErrorNs);
  }
  CycleShift shift;
  shift.shift_ns = point.shift_ns;
  shift.points.push_back(point);
  return shift;
}

CycleShift by_sync(const RankSync& sync) {
  const RankSync& first = sync.first();
  CycleShift shift;
  const auto moment_ns = sum(first.ns, first.shift.shift_ns);
  if (!moment_ns || __builtin_sub_overflow(*moment_ns, sync.ns, &shift.shift_ns))
    shift.shift_ns = sync.cycle->moment_ns - sync.ns;
  shift.error_ns = sync.cycle->error_ns;
  shift.points.push_back({sync.ns, shift.shift_ns, shift.error_ns.value_or(kStampErrorNs)});
  return shift;
}

std::optional<CycleShift> by_machine(const RankSync& sync) {
  const RankSync& first = sync.first();
  if (sync.machine == nullptr || first.machine == nullptr || sync.machine->id != first.machine->id)
    return std::nullopt;
  const std::optional<MachineShift> found =
      machine_shift(first.machine->ahead, sync.machine->ahead);
  if (!found) return std::nullopt;
  const SyncPoint& of = first.shift.points.front();
  const auto shift_ns = sum(found->shift_ns, of.shift_ns);
  const auto error_ns = sum(found->error_ns, of.error_ns);
  if (!shift_ns || !error_ns) return std::nullopt;
  return CycleShift{
      ClockMethod::same_boot, *shift_ns, *error_ns, {{sync.ns, *shift_ns, *error_ns}}, {}};
}

std::optional<SyncPoint> point_of(const RankSync& sync, SyncRounds CycleRounds::*group,
                                  std::string& bad_rounds) {
  const RankSync& first = sync.first();
  const std::map<std::string, CycleRounds>& stamps = sync.cycle->stamps;
  const std::optional<ClockOffset> offset =
      clock_offset(stamps.at(clock_of(first)).*group, stamps.at(clock_of(sync)).*group);
  if (!offset) return std::nullopt;
  if (offset->is_contradiction()) {
    bad_rounds = fmt::format("{} too far apart",
                             format_duration(offset->ahead.low_ns - offset->ahead.high_ns));
    return std::nullopt;
  }
  std::optional<ClockRange> shift = difference(ahead_of_clock(first), ahead_of_clock(sync));
  if (shift) shift = difference(*shift, offset->ahead);
  if (shift) shift = sum(*shift, range_of(first.shift.points.front()));
  const auto at_ns = sum(offset->at_ns, ahead_of_clock(sync).middle_ns());
  if (!shift || !at_ns) return std::nullopt;
  return SyncPoint{*at_ns, shift->middle_ns(), shift->error_ns()};
}

// Uses the middle of what both ends of the cycle allow. If the clock was set in between, it uses
// the first end.
void use_rounds(const RankSync& sync, CycleShift& shift) {
  const std::optional<SyncPoint> start = point_of(sync, &CycleRounds::start, shift.bad_rounds);
  const std::optional<SyncPoint> end = point_of(sync, &CycleRounds::end, shift.bad_rounds);
  if ((!start && !end) || !shift.bad_rounds.empty()) return;
  shift.method = ClockMethod::rounds;
  shift.points = {start ? *start : *end};
  if (start && end && start->at_ns < end->at_ns)
    shift.points.push_back(*end);
  else if (start)
    shift.set_back = end;
  const SyncPoint& first = shift.points.front();
  const SyncPoint& last = shift.set_back ? *shift.set_back : shift.points.back();
  const ClockRange all = hull(range_of(first), range_of(last));
  shift.shift_ns = shift.was_set() ? first.shift_ns : all.middle_ns();
  shift.error_ns = farthest(shift.shift_ns, all);
}

CycleShift shift_of(const RankSync& sync) {
  if (std::optional<CycleShift> shift = by_machine(sync)) return *std::move(shift);
  CycleShift shift = by_sync(sync);
  use_rounds(sync, shift);
  return shift;
}

// The rank's syncs in cycles of earlier ranks come first: cycles that begin with this rank are
// placed by their neighbours.
void find_shifts(const std::vector<RankSync*>& syncs) {
  std::vector<RankSync*> found;
  for (RankSync* const sync : syncs) {
    if (&sync->first() == sync) continue;
    sync->shift = shift_of(*sync);
    found.push_back(sync);
  }
  for (RankSync* const sync : syncs) {
    if (&sync->first() != sync) continue;
    sync->shift = first_shift(*sync, found);
    find_clocks(*sync->cycle);
  }
}

// The first sync of a cycle gets the method that the other ranks use.
void settle_first(SyncCycle& cycle) {
  CycleShift& shift = cycle.syncs.front()->shift;
  SyncPoint& point = shift.points.front();
  for (const ClockMethod method : {ClockMethod::same_boot, ClockMethod::rounds})
    if (std::ranges::any_of(cycle.syncs,
                            [&](const RankSync* sync) { return sync->shift.method == method; }))
      shift.method = method;
  if (shift.method != ClockMethod::sync) {
    shift.error_ns = point.error_ns;
  } else {
    shift.error_ns = cycle.error_ns;
    point.error_ns = shift.error_ns.value_or(kStampErrorNs);
  }
}

}  // namespace

bool CycleShift::was_set() const {
  return set_back || change_between(points.front(), points.back()) == ClockChange::step;
}

const RankSync& RankSync::first() const {
  return *cycle->syncs.front();
}

CycleRounds RankSync::rounds() const {
  const CycleRounds& on_clock = cycle->stamps.at(clock_of(*this));
  const std::optional<ClockRange> behind = difference({0, 0}, ahead_of_clock(*this));
  if (!behind) return {};
  return {on_machine(on_clock.start, *behind).value_or(SyncRounds{}),
          on_machine(on_clock.end, *behind).value_or(SyncRounds{})};
}

const RankSync* nearest_sync(const std::vector<RankSync*>& syncs, std::int64_t ns) {
  const auto later = std::ranges::lower_bound(syncs, ns, {}, &RankSync::ns);
  if (later == syncs.begin()) return syncs.empty() ? nullptr : syncs.front();
  const RankSync* const before = *std::prev(later);
  if (later == syncs.end() || apart(before->ns, ns) <= apart((*later)->ns, ns)) return before;
  return *later;
}

SyncCycles match_syncs(const std::vector<ClockFacts>& files, const std::vector<bool>& wants_sync) {
  SyncCycles found;
  found.own.resize(files.size());
  for (const std::int64_t rank : SyncMatcher(files, found).run(wants_sync))
    find_shifts(found.of_rank[rank]);
  for (SyncCycle& cycle : found.all_cycles) settle_first(cycle);
  return found;
}

}  // namespace traceloom
