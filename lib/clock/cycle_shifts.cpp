#include "clock/cycle_shifts.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace traceloom {
namespace {

// Moments stay below this limit, so that the difference of two of them always fits.
constexpr std::int64_t kMaxMomentNs = std::int64_t{1} << 62;

std::optional<std::int64_t> nanoseconds(std::int64_t us) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(us, std::int64_t{1000}, &result)) return std::nullopt;
  return result;
}

bool is_moment(std::optional<std::int64_t> ns) {
  return ns && *ns > -kMaxMomentNs && *ns < kMaxMomentNs;
}

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

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

}  // namespace

SyncCycles::SyncCycles(const std::vector<ClockFacts>& files, const std::vector<bool>& wants_sync)
    : files_(files), own_(files.size()) {
  gather_syncs(wants_sync);
  place_all();
  gather_cycles();
}

// Ranks that share a cycle with placed ranks come before ranks that share none.
void SyncCycles::place_all() {
  for (const auto& [rank, syncs] : syncs_of_rank_) waiting_.insert(rank);
  while (!waiting_.empty()) {
    const std::int64_t rank = linked_.empty() ? *waiting_.begin() : *linked_.begin();
    waiting_.erase(rank);
    linked_.erase(rank);
    ranks_.push_back(rank);
    std::vector<RankSync>& syncs = syncs_of_rank_[rank];
    place(syncs);
    placed_of_rank_[rank] = placed(syncs);
  }
}

void SyncCycles::know(const CycleLabel& label, std::size_t cycle) {
  if (!cycle_of_label_.emplace(label, cycle).second) return;
  for (const std::int64_t rank : ranks_of_label_[label])
    if (waiting_.contains(rank)) linked_.insert(rank);
}

const RankSync* nearest_sync(const std::vector<const RankSync*>& syncs, std::int64_t ns) {
  const auto later = std::ranges::lower_bound(syncs, ns, {}, &RankSync::ns);
  if (later == syncs.begin()) return syncs.empty() ? nullptr : syncs.front();
  const RankSync* const before = *std::prev(later);
  if (later == syncs.end() || distance(before->ns, ns) <= distance((*later)->ns, ns)) return before;
  return *later;
}

void SyncCycles::gather_syncs(const std::vector<bool>& wants_sync) {
  std::map<std::int64_t, std::map<std::int64_t, RankSync>> by_value;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const ClockFacts& file = files_[i];
    if (!wants_sync[i] || !file.sync_us) continue;
    const std::optional<std::int64_t> ns = nanoseconds(*file.sync_us);
    if (is_moment(ns))
      by_value[file.rank][*ns].files.push_back(i);
    else
      bad_syncs_.push_back(i);
  }
  for (auto& [rank, values] : by_value) {
    std::map<std::string, std::size_t> met;
    for (auto& [ns, sync] : values) {
      sync.ns = ns;
      std::set<std::string> names;
      for (const std::size_t file : sync.files) names.insert(files_[file].cycle);
      names.erase("");
      for (const std::string& name : names) sync.labels.emplace(name, met[name]++);
      for (const CycleLabel& label : sync.labels) ranks_of_label_[label].push_back(rank);
      syncs_of_rank_[rank].push_back(std::move(sync));
    }
  }
}

// The first rank is the reference: there is no cycle yet, so each of its syncs starts one,
// unshifted.
void SyncCycles::place(std::vector<RankSync>& syncs) {
  const bool is_reference = cycles_.empty();
  if (!find_by_label(syncs) && may_go_by_order(syncs)) find_by_order(syncs);
  const std::vector<const RankSync*> found = placed(syncs);
  for (RankSync& sync : syncs) {
    if (sync.is_placed) continue;
    const RankSync* const neighbour = nearest_sync(found, sync.ns);
    if (neighbour == nullptr)
      add_cycle(sync, 0, is_reference, is_reference);
    else
      add_cycle(sync, shift_ns(*neighbour), false, is_linked(*neighbour));
  }
  for (const RankSync& sync : syncs)
    if (sync.is_placed) cycles_[sync.cycle].ranks.merge(ranks_with(sync));
}

bool SyncCycles::find_by_label(std::vector<RankSync>& syncs) const {
  std::set<std::size_t> taken;
  for (RankSync& sync : syncs) {
    for (const CycleLabel& label : sync.labels) {
      const auto known = cycle_of_label_.find(label);
      if (sync.is_placed || known == cycle_of_label_.end()) continue;
      sync.cycle = known->second;
      sync.is_placed = taken.insert(sync.cycle).second;
    }
  }
  return !taken.empty();
}

// True if order may be used: names that are not Composer's may contain the host or the run, but
// different batches are different moments.
bool SyncCycles::may_go_by_order(const std::vector<RankSync>& syncs) const {
  return has_vague_cycle_ || !std::ranges::all_of(syncs, tells_batch);
}

// A rank is in a cycle once: a merge of ranks holds them all in its cycle.
void SyncCycles::find_by_order(std::vector<RankSync>& syncs) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < cycles_.size(); ++i) order.emplace_back(cycles_[i].moment_ns, i);
  std::ranges::sort(order);
  auto next = order.begin();
  for (RankSync& sync : syncs) {
    const std::set<std::int64_t> ranks = ranks_with(sync);
    next = std::find_if(next, order.end(), [&](const auto& cycle) {
      return std::ranges::none_of(
          ranks, [&](std::int64_t rank) { return cycles_[cycle.second].ranks.contains(rank); });
    });
    if (next == order.end()) return;
    sync.cycle = (next++)->second;
    sync.is_placed = true;
    for (const CycleLabel& label : sync.labels) know(label, sync.cycle);
  }
}

std::set<std::int64_t> SyncCycles::ranks_with(const RankSync& sync) const {
  std::set<std::int64_t> ranks;
  for (const std::size_t file : sync.files) {
    ranks.insert(files_[file].rank);
    ranks.insert(files_[file].ranks.begin(), files_[file].ranks.end());
  }
  return ranks;
}

void SyncCycles::add_cycle(RankSync& sync, std::int64_t shift_ns, bool is_of_reference,
                           bool is_linked) {
  const std::optional<std::int64_t> moment = sum(sync.ns, shift_ns);
  if (!is_moment(moment)) {
    bad_syncs_.insert(bad_syncs_.end(), sync.files.begin(), sync.files.end());
    return;
  }
  sync.cycle = cycles_.size();
  sync.is_placed = true;
  cycles_.push_back({*moment, std::nullopt, is_of_reference, is_linked});
  has_vague_cycle_ |= !tells_batch(sync);
  for (const CycleLabel& label : sync.labels) know(label, sync.cycle);
}

void SyncCycles::gather_cycles() {
  for (const std::int64_t rank : ranks_) {
    for (const RankSync* sync : placed_of_rank_[rank]) {
      cycles_[sync->cycle].syncs.push_back(sync);
      std::optional<std::int64_t>& least = cycles_[sync->cycle].bound_us;
      for (const std::size_t file : sync->files) {
        own_[file] = sync;
        const std::optional<std::int64_t>& bound = files_[file].error_bound_us;
        if (bound && *bound >= 0) keep_least(least, bound);
      }
    }
  }
}

std::vector<const RankSync*> SyncCycles::placed(const std::vector<RankSync>& syncs) {
  std::vector<const RankSync*> found;
  for (const RankSync& sync : syncs)
    if (sync.is_placed) found.push_back(&sync);
  return found;
}

const RankSync* SyncCycles::of_rank(std::size_t index) const {
  const ClockFacts& file = files_[index];
  const auto rank = placed_of_rank_.find(file.rank);
  if (rank == placed_of_rank_.end() || rank->second.empty()) return nullptr;
  const std::vector<const RankSync*>& syncs = rank->second;
  if (!file.cycle.empty())
    for (const RankSync* sync : syncs)
      if (sync->labels.contains({file.cycle, 0})) return sync;
  const std::optional<std::int64_t> start =
      file.first_ns ? sum(*file.first_ns, file.base_ns.value_or(0)) : std::nullopt;
  const bool is_comparable = start && is_unix_time(*start) == is_unix_time(syncs.front()->ns);
  return is_comparable ? nearest_sync(syncs, *start) : syncs.front();
}

const std::vector<const RankSync*>& SyncCycles::of(std::int64_t rank) const {
  static const std::vector<const RankSync*> none;
  const auto found = placed_of_rank_.find(rank);
  return found == placed_of_rank_.end() ? none : found->second;
}

std::optional<std::int64_t> SyncCycles::error_ns(const RankSync& sync) const {
  const std::optional<std::int64_t> bound = cycles_[sync.cycle].bound_us;
  const std::optional<std::int64_t> us = bound ? sum(*bound, 1) : std::nullopt;
  return us ? nanoseconds(*us) : std::nullopt;
}

namespace {

// A stamp is in whole microseconds.
constexpr std::int64_t kStampErrorNs = 1000;

}  // namespace

bool CycleShift::was_set() const {
  return set_back || change_between(points.front(), points.back()) == ClockChange::step;
}

CycleShifts::CycleShifts(const std::vector<ClockFacts>& files, const SyncCycles& cycles)
    : files_(files), cycles_(cycles) {
  const std::vector<std::int64_t>& ranks = cycles.ranks();
  for (const std::int64_t rank : ranks) place_rank(rank);
  for (const std::int64_t rank : ranks)
    for (const RankSync* sync : cycles.of(rank))
      if (&cycles.first_of(*sync) == sync) settle_first(*sync);
}

// The rank's syncs in cycles of earlier ranks come first: cycles that begin with this rank are
// placed by their neighbours.
void CycleShifts::place_rank(std::int64_t rank) {
  std::vector<const RankSync*> found;
  for (const RankSync* sync : cycles_.of(rank)) {
    if (&cycles_.first_of(*sync) == sync) continue;
    shifts_[sync] = shift_of(*sync);
    found.push_back(sync);
  }
  for (const RankSync* sync : cycles_.of(rank)) {
    if (&cycles_.first_of(*sync) != sync) continue;
    shifts_[sync] = first_shift(*sync, found);
    gather_stamps(*sync);
  }
}

// The error of its point is added to the errors of all ranks that are aligned through it. `found`
// holds the syncs of its rank in cycles of earlier ranks, by time.
CycleShift CycleShifts::first_shift(const RankSync& sync,
                                    const std::vector<const RankSync*>& found) const {
  SyncPoint point{sync.ns, 0, 0};
  if (const std::optional<SyncPoint> between = on_line(sync, found)) {
    point = *between;
  } else if (const RankSync* const neighbour = nearest_sync(found, sync.ns)) {
    const std::vector<SyncPoint>& known = of(*neighbour).points;
    point.shift_ns = (sync.ns < neighbour->ns ? known.front() : known.back()).shift_ns;
    point.error_ns = of(*neighbour).error_ns.value_or(kStampErrorNs);
  }
  CycleShift shift;
  shift.shift_ns = point.shift_ns;
  shift.points.push_back(point);
  return shift;
}

// Interpolates between the neighbouring syncs if the clock only drifted from one to the other.
std::optional<SyncPoint> CycleShifts::on_line(const RankSync& sync,
                                              const std::vector<const RankSync*>& found) const {
  const auto after = std::ranges::upper_bound(found, sync.ns, {}, &RankSync::ns);
  if (after == found.begin() || after == found.end()) return std::nullopt;
  const SyncPoint& earlier = of(**std::prev(after)).points.back();
  const SyncPoint& later = of(**after).points.front();
  if (earlier.at_ns >= sync.ns || later.at_ns <= sync.ns ||
      change_between(earlier, later) != ClockChange::drift)
    return std::nullopt;
  const TimeMap line(0, 0, drifts_of({earlier, later}).front().line);
  return SyncPoint{sync.ns, line.mapped_or_same(sync.ns) - sync.ns,
                   std::max(earlier.error_ns, later.error_ns)};
}

// The first sync of a cycle gets the method that the other ranks use.
void CycleShifts::settle_first(const RankSync& first) {
  const auto goes_by = [&](ClockMethod method) {
    const std::vector<const RankSync*>& syncs = cycles_.all_of(first);
    return std::ranges::any_of(syncs,
                               [&](const RankSync* sync) { return of(*sync).method == method; });
  };
  CycleShift& shift = shifts_[&first];
  SyncPoint& point = shift.points.front();
  if (goes_by(ClockMethod::rounds))
    shift.method = ClockMethod::rounds;
  else if (goes_by(ClockMethod::same_boot))
    shift.method = ClockMethod::same_boot;
  if (shift.method != ClockMethod::sync) {
    shift.error_ns = point.error_ns;
  } else {
    shift.error_ns = cycles_.error_ns(first);
    point.error_ns = shift.error_ns.value_or(kStampErrorNs);
  }
}

CycleShift CycleShifts::shift_of(const RankSync& sync) const {
  if (std::optional<CycleShift> shift = by_machine(sync)) return *std::move(shift);
  CycleShift shift = by_sync(sync);
  by_rounds(sync, shift);
  return shift;
}

CycleShift CycleShifts::by_sync(const RankSync& sync) const {
  const RankSync& first = cycles_.first_of(sync);
  CycleShift shift;
  const auto moment_ns = sum(first.ns, of(first).shift_ns);
  if (!moment_ns || __builtin_sub_overflow(*moment_ns, sync.ns, &shift.shift_ns))
    shift.shift_ns = cycles_.shift_ns(sync);
  shift.error_ns = cycles_.error_ns(sync);
  shift.points.push_back({sync.ns, shift.shift_ns, shift.error_ns.value_or(kStampErrorNs)});
  return shift;
}

std::optional<CycleShift> CycleShifts::by_machine(const RankSync& sync) const {
  const RankSync& first = cycles_.first_of(sync);
  const MachineClock* const own = machine_of(sync);
  const MachineClock* const of_first = machine_of(first);
  if (own == nullptr || of_first == nullptr || own->id != of_first->id) return std::nullopt;
  const std::optional<MachineShift> found = machine_shift(of_first->ahead, own->ahead);
  if (!found) return std::nullopt;
  const SyncPoint& of = this->of(first).points.front();
  const auto shift_ns = sum(found->shift_ns, of.shift_ns);
  const auto error_ns = sum(found->error_ns, of.error_ns);
  if (!shift_ns || !error_ns) return std::nullopt;
  return CycleShift{
      ClockMethod::same_boot, *shift_ns, *error_ns, {{sync.ns, *shift_ns, *error_ns}}, {}};
}

// Uses the middle of what both ends of the cycle allow. If the clock was set in between, it uses
// the first end.
bool CycleShifts::by_rounds(const RankSync& sync, CycleShift& shift) const {
  const std::optional<SyncPoint> start = point(sync, &CycleRounds::start, shift.bad_rounds);
  const std::optional<SyncPoint> end = point(sync, &CycleRounds::end, shift.bad_rounds);
  if ((!start && !end) || !shift.bad_rounds.empty()) return false;
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
  return true;
}

std::optional<SyncPoint> CycleShifts::point(const RankSync& sync, SyncRounds CycleRounds::*group,
                                            std::string& bad_rounds) const {
  const RankSync& first = cycles_.first_of(sync);
  const StampsOfClock& stamps = stamps_.at(sync.cycle);
  const SyncRounds& reference = stamps.at(clock_of(first)).*group;
  const std::optional<ClockOffset> offset =
      clock_offset(reference, stamps.at(clock_of(sync)).*group);
  if (!offset) return std::nullopt;
  if (offset->is_contradiction()) {
    bad_rounds = fmt::format("{} too far apart",
                             format_duration(offset->ahead.low_ns - offset->ahead.high_ns));
    return std::nullopt;
  }
  const SyncPoint& of_first = of(first).points.front();
  std::optional<ClockRange> shift = difference(ahead_of_clock(first), ahead_of_clock(sync));
  if (shift) shift = difference(*shift, offset->ahead);
  if (shift) shift = sum(*shift, range_of(of_first));
  const auto at_ns = sum(offset->at_ns, ahead_of_clock(sync).middle_ns());
  if (!shift || !at_ns) return std::nullopt;
  return SyncPoint{*at_ns, shift->middle_ns(), shift->error_ns()};
}

CycleRounds CycleShifts::stamps_on(const RankSync& sync) const {
  const CycleRounds& on_clock = stamps_.at(sync.cycle).at(clock_of(sync));
  const std::optional<ClockRange> behind = difference({0, 0}, ahead_of_clock(sync));
  if (!behind) return {};
  return {on_machine(on_clock.start, *behind).value_or(SyncRounds{}),
          on_machine(on_clock.end, *behind).value_or(SyncRounds{})};
}

// A machine is used if several ranks share it and its clock is a single one.
void CycleShifts::gather_stamps(const RankSync& first) {
  std::map<std::string, int> ranks_on;
  for (const RankSync* sync : cycles_.all_of(first))
    if (const MachineClock* machine = machine_of(*sync)) ++ranks_on[machine->id];
  for (const auto& [machine, ranks] : ranks_on)
    if (ranks == 1) no_machines_.emplace(first.cycle, machine);
  StampsOfClock stamps = stamps_of(first);
  bool is_odd = false;
  for (const auto& [clock, stamped] : stamps) {
    if (is_possible(stamped.start) && is_possible(stamped.end)) continue;
    no_machines_.emplace(first.cycle, clock);
    is_odd = true;
  }
  stamps_[first.cycle] = is_odd ? stamps_of(first) : std::move(stamps);
}

CycleShifts::StampsOfClock CycleShifts::stamps_of(const RankSync& first) const {
  StampsOfClock stamps;
  const auto add = [](SyncRounds& known, const std::optional<SyncRounds>& rounds) {
    if (!rounds || rounds->empty()) return;
    if (known.empty())
      known = *rounds;
    else
      join(known, *rounds);
  };
  for (const RankSync* sync : cycles_.all_of(first)) {
    const ClockFacts& facts = facts_of(*sync);
    const ClockRange ahead = ahead_of_clock(*sync);
    CycleRounds& on_clock = stamps[clock_of(*sync)];
    add(on_clock.start, on_machine(facts.rounds.start, ahead));
    add(on_clock.end, on_machine(facts.rounds.end, ahead));
  }
  return stamps;
}

const ClockFacts& CycleShifts::facts_of(const RankSync& sync) const {
  for (const std::size_t file : sync.files)
    if (!files_[file].rounds.empty() || files_[file].machine) return files_[file];
  return files_[sync.files.front()];
}

const MachineClock* CycleShifts::machine_of(const RankSync& sync) const {
  const ClockFacts& facts = facts_of(sync);
  if (!facts.machine || no_machines_.contains({sync.cycle, facts.machine->id})) return nullptr;
  return &*facts.machine;
}

std::string CycleShifts::clock_of(const RankSync& sync) const {
  const MachineClock* const machine = machine_of(sync);
  return machine != nullptr ? machine->id : fmt::format("rank {}", facts_of(sync).rank);
}

ClockRange CycleShifts::ahead_of_clock(const RankSync& sync) const {
  const MachineClock* const machine = machine_of(sync);
  return machine != nullptr ? machine->ahead : ClockRange{};
}

}  // namespace traceloom
