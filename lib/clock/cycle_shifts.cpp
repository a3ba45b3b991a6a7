#include "clock/cycle_shifts.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
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
    return std::any_of(syncs.begin(), syncs.end(),
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
