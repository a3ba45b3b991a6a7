#include "clock/alignment.h"

#include "base/arithmetic.h"
#include "clock/cycle_shifts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace traceloom {

namespace {

bool is_stronger_than_events(ClockMethod method) {
  return method == ClockMethod::given || is_by_sync(method) ||
         method == ClockMethod::sync_of_rank || method == ClockMethod::merged;
}

// Returns nullopt for a file without events.
std::optional<bool> shows_unix_time(const ClockFacts& file) {
  if (!file.first_ns) return std::nullopt;
  return is_unix_time(saturating_add(*file.first_ns, file.base_ns.value_or(0)));
}

class Aligner {
 public:
  Aligner(const std::vector<ClockFacts>& files, const ClockOptions& options)
      : files_(files),
        options_(options),
        clocks_(files.size()),
        cycles_(match_syncs(files, wants_sync())),
        synced_by_(files.size()),
        drifts_(files.size()),
        lines_(files.size()) {}

  std::vector<FileClock> run() {
    for (const std::size_t file : cycles_.bad_syncs)
      clocks_[file].problems.add(Problem::bad_sync, 0);
    for (std::size_t i = 0; i < files_.size(); ++i) decide(i);
    find_drifts();
    place_by_machines();
    place_by_events();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      map_times(i);
      find_worst_error(i);
      clocks_[i].is_known = is_known(i);
      tell_rounds(i);
    }
    count_no_clock();
    return std::move(clocks_);
  }

 private:
  std::vector<bool> wants_sync() const {
    std::vector<bool> wants;
    for (const ClockFacts& file : files_) wants.push_back(goes_by_sync(file));
    return wants;
  }

  bool goes_by_sync(const ClockFacts& file) const {
    return !options_.offsets.contains(file.rank) &&
           (options_.align_by == AlignBy::any || options_.align_by == AlignBy::sync);
  }

  void decide(std::size_t file) {
    const ClockFacts& facts = files_[file];
    FileClock& clock = clocks_[file];
    const std::int64_t base_ns = options_.align_by == AlignBy::none ? 0 : facts.base_ns.value_or(0);
    if (const auto given = options_.offsets.find(facts.rank); given != options_.offsets.end()) {
      clock.method = ClockMethod::given;
      clock.offset_ns = sum(base_ns, given->second).value_or(base_ns);
      return;
    }
    if (options_.align_by == AlignBy::none || (goes_by_sync(facts) && apply_sync(file))) return;
    clock.offset_ns = base_ns;
    if (facts.is_merged)
      clock.method = ClockMethod::merged;
    else if (options_.align_by == AlignBy::sync)
      clock.method = ClockMethod::none;
    else if (facts.base_ns)
      clock.method = ClockMethod::base;
    else if (facts.first_ns && is_unix_time(*facts.first_ns))
      clock.method = ClockMethod::epoch;
  }

  // Returns the sync of its rank that a file without one of its own uses: of the same cycle,
  // otherwise the nearest in time. Returns nullptr if the rank has none.
  const RankSync* sync_of_rank(const ClockFacts& file) const {
    const auto rank = cycles_.of_rank.find(file.rank);
    if (rank == cycles_.of_rank.end() || rank->second.empty()) return nullptr;
    const std::vector<RankSync*>& syncs = rank->second;
    if (!file.cycle.empty())
      for (const RankSync* sync : syncs)
        if (sync->labels.contains({file.cycle, 0})) return sync;
    const std::optional<std::int64_t> start =
        file.first_ns ? sum(*file.first_ns, file.base_ns.value_or(0)) : std::nullopt;
    const bool is_comparable = start && is_unix_time(*start) == is_unix_time(syncs.front()->ns);
    return is_comparable ? nearest_sync(syncs, *start) : syncs.front();
  }

  // True if the file may use the sync of another file of its rank. A merged file does not belong to
  // one rank; and a clock that counts from the start of the machine has no relation to one with
  // Unix time.
  bool may_go_by(const RankSync& sync, std::size_t file) const {
    if (files_[file].is_merged) return false;
    const std::optional<bool> own = shows_unix_time(files_[file]);
    return !own || std::ranges::any_of(sync.files, [&](std::size_t synced) {
      return shows_unix_time(files_[synced]).value_or(is_unix_time(sync.ns)) == *own;
    });
  }

  bool apply_sync(std::size_t file) {
    const RankSync* const own = cycles_.own[file];
    const RankSync* const sync = own != nullptr ? own : sync_of_rank(files_[file]);
    if (sync == nullptr || (own == nullptr && !may_go_by(*sync, file))) return false;
    FileClock& clock = clocks_[file];
    const CycleShift& shift = sync->shift;
    const std::optional<std::int64_t> offset =
        sum(files_[file].base_ns.value_or(0), shift.shift_ns);
    if (!offset) {
      clock.problems.add(Problem::bad_sync, 0);
      return false;
    }
    synced_by_[file] = sync;
    clock.method = own != nullptr ? shift.method : ClockMethod::sync_of_rank;
    clock.offset_ns = *offset;
    if (sync->cycle->is_linked) clock.error_ns = shift.error_ns;
    if (!is_of_other_cycle(file)) clock.cycle = sync->cycle->number;
    if (own != nullptr && !shift.bad_rounds.empty())
      clock.problems.add(Problem::bad_rounds, 0, 1, shift.bad_rounds);
    return true;
  }

  void find_drifts() {
    std::map<std::int64_t, std::vector<std::size_t>>
        by_sync;  // the files of a rank that use a sync
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (synced_by_[file] != nullptr) by_sync[files_[file].rank].push_back(file);
    for (const auto& [rank, files] : by_sync) {
      std::vector<RankSync*> syncs = cycles_.of_rank.at(rank);
      std::erase_if(syncs, [](const RankSync* sync) { return !sync->cycle->is_of_reference; });
      if (!syncs.empty()) find_drift(files, syncs);
    }
  }

  // Finds the drift of the files of one rank.
  void find_drift(const std::vector<std::size_t>& files, const std::vector<RankSync*>& syncs) {
    std::vector<SyncPoint> points;
    std::vector<const RankSync*> sync_of;  // sync of each point
    for (const RankSync* sync : syncs) {
      const CycleShift& shift = sync->shift;
      if (shift.set_back)
        for (const std::size_t file : sync->files)
          count_step(shift.points.front(), *shift.set_back, clocks_[file].problems);
      for (const SyncPoint& point : shift.points) {
        if (!points.empty() && point.at_ns <= points.back().at_ns) continue;
        points.push_back(point);
        sync_of.push_back(sync);
      }
    }
    for (std::size_t i = 1; i < points.size(); ++i)
      if (change_between(points[i - 1], points[i]) == ClockChange::step)
        for (const std::size_t file : sync_of[i]->files)
          count_step(points[i - 1], points[i], clocks_[file].problems);
    const std::vector<Drift> drifts = drifts_of(points);
    for (const std::size_t file : files) {
      const RankSync& own = *synced_by_[file];
      // Outside the cycles of the reference a rank stays with the ranks that share its cycle.
      if (!own.cycle->is_of_reference &&
          (own.ns < points.front().at_ns || own.ns > points.back().at_ns))
        continue;
      const RankSync* const sync = nearest_sync(syncs, own.ns);
      const auto index = std::ranges::find(sync_of, sync) - sync_of.begin();
      if (static_cast<std::size_t>(index) == points.size()) continue;
      interpolate(file, drifts[static_cast<std::size_t>(index)]);
    }
  }

  // With a drift line, the error is the largest distance between the line and the moments of the
  // file's cycle. The moments are knots of the line, unless too little is known of the drift within
  // the cycle.
  void interpolate(std::size_t file, const Drift& drift) {
    FileClock& clock = clocks_[file];
    clock.drift_ppm = drift.ppm;
    if (drift.line->knots.size() < 2) return;
    drifts_[file] = drift.line;
    if (const std::optional<std::int64_t> first_ns = files_[file].first_ns;
        first_ns && is_of_other_cycle(file)) {
      const std::int64_t base_ns = files_[file].base_ns.value_or(0);
      const TimeMap line(base_ns, base_ns, drift.line);
      clock.offset_ns = saturating_subtract(line.mapped_or_same(*first_ns), *first_ns);
    }
    if (options_.drift != DriftMode::linear) return;
    const CycleShift& shift = synced_by_[file]->shift;
    if (shift.method == ClockMethod::rounds && !shift.was_set()) {
      const TimeMap line(0, 0, drift.line);
      clock.error_ns = 0;
      for (const SyncPoint& point : shift.points) {
        const std::int64_t shift_ns = line.mapped_or_same(point.at_ns) - point.at_ns;
        clock.error_ns = std::max(*clock.error_ns, farthest(shift_ns, range_of(point)));
      }
    }
    lines_[file] = drift.line;
  }

  // True if the file has no sync and the nearest sync belongs to another cycle, so far away that
  // the clock has drifted.
  bool is_of_other_cycle(std::size_t file) const {
    const std::string& cycle = files_[file].cycle;
    if (clocks_[file].method != ClockMethod::sync_of_rank || cycle.empty()) return false;
    const std::vector<std::size_t>& synced = synced_by_[file]->files;
    return std::ranges::none_of(synced,
                                [&](std::size_t other) { return files_[other].cycle == cycle; });
  }

  // Places files without a sync by a file that has a place and the same machine.
  void place_by_machines() {
    if (options_.align_by != AlignBy::any && options_.align_by != AlignBy::sync) return;
    std::map<std::string_view, std::vector<std::size_t>> synced;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (synced_by_[i] != nullptr && files_[i].machine) synced[files_[i].machine->id].push_back(i);
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (files_[file].machine && !is_stronger_than_events(clocks_[file].method))
        place_by_machine(file, synced[files_[file].machine->id]);
  }

  void place_by_machine(std::size_t file, const std::vector<std::size_t>& synced) {
    const MachineClock& own = *files_[file].machine;
    for (const std::size_t i : synced) {
      const CycleShift& known = synced_by_[i]->shift;
      const std::optional<MachineShift> shift = machine_shift(files_[i].machine->ahead, own.ahead);
      if (!shift) continue;
      const auto shift_ns = sum(shift->shift_ns, known.shift_ns);
      const auto offset_ns = shift_ns ? sum(files_[file].base_ns.value_or(0), *shift_ns) : shift_ns;
      if (!offset_ns) continue;
      clocks_[file].method = ClockMethod::same_boot;
      clocks_[file].offset_ns = *offset_ns;
      if (known.error_ns) clocks_[file].error_ns = sum(shift->error_ns, *known.error_ns);
      const std::int64_t at_ns = saturating_subtract(known.points.front().at_ns, shift->shift_ns);
      if (!is_bound_throughout(i)) placed_[file] = {.from_ns = at_ns, .to_ns = at_ns};
      return;
    }
  }

  // Places files that share named moments by those moments.
  void place_by_events() {
    if (options_.align_by != AlignBy::any && options_.align_by != AlignBy::sync) return;
    std::vector<SyncNode> nodes(files_.size());
    for (std::size_t i = 0; i < files_.size(); ++i) {
      nodes[i].events = files_[i].sync_events;
      if (is_stronger_than_events(clocks_[i].method)) nodes[i].offset_ns = clocks_[i].offset_ns;
    }
    bool is_first = true;  // true for the first group without a clock sync
    for (const std::vector<std::size_t>& group : connected_by_sync_events(nodes)) {
      const bool has_anchor = std::ranges::any_of(
          group, [&](std::size_t file) { return nodes[file].offset_ns.has_value(); });
      if (has_anchor) continue;
      if (const auto root = root_of(group, std::exchange(is_first, false)))
        nodes[*root].offset_ns = clocks_[*root].offset_ns;
    }
    const std::vector<std::optional<SyncPlace>> places = place_by_sync_events(nodes);
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (is_stronger_than_events(clocks_[file].method) || !places[file]) continue;
      clocks_[file].method = ClockMethod::sync_event;
      clocks_[file].offset_ns = places[file]->offset_ns;
      clocks_[file].error_ns = places[file]->error_ns;
      if (!nodes[file].offset_ns) placed_[file] = known_by_events(files_[file]);
    }
  }

  // Returns the file whose clock a group without any clock sync uses; nullopt if no evidence
  // relates that clock to other files.
  std::optional<std::size_t> root_of(const std::vector<std::size_t>& group, bool is_first) const {
    const auto has_method = [](const FileClock& clock) {
      return clock.method != ClockMethod::none;
    };
    const auto has_clock = [&](std::size_t file) { return has_method(clocks_[file]); };
    const auto root = std::ranges::find_if(group, has_clock);
    if (root != group.end()) return *root;
    if (!is_first || std::ranges::any_of(clocks_, has_method)) return std::nullopt;
    return group.front();
  }

  void map_times(std::size_t file) {
    const std::int64_t offset_ns = clocks_[file].offset_ns;
    const std::int64_t relative_ns =
        options_.align_by == AlignBy::none ? 0 : files_[file].relative_base_ns.value_or(0);
    if (lines_[file] != nullptr) {
      const std::int64_t base_ns = files_[file].base_ns.value_or(0);
      clocks_[file].times =
          TimeMap(sum(base_ns, relative_ns).value_or(base_ns), base_ns, lines_[file]);
    } else {
      clocks_[file].times = TimeMap(sum(offset_ns, relative_ns).value_or(offset_ns), offset_ns);
    }
  }

  // True if the error of a file holds for more than one moment.
  bool is_bound_throughout(std::size_t file) const {
    const RankSync* const sync = synced_by_[file];
    if (sync == nullptr) return !placed_.contains(file);
    if (lines_[file] != nullptr || clocks_[file].method == ClockMethod::same_boot) return true;
    return clocks_[file].method == ClockMethod::rounds &&
           (sync->shift.points.size() > 1 || sync->shift.set_back || sync == &sync->first());
  }

  void find_worst_error(std::size_t file) {
    FileClock& clock = clocks_[file];
    clock.worst_error_ns = clock.error_ns;
    if (!clock.error_ns || is_bound_throughout(file)) return;
    KnownShift known;
    if (const RankSync* const sync = synced_by_[file]) {
      known.from_ns = known.to_ns = sync->shift.points.front().at_ns;
      known.shift_ns = saturating_subtract(clock.offset_ns, files_[file].base_ns.value_or(0));
      known.line = drifts_[file];
    } else {
      known = placed_.at(file);
    }
    clock.worst_error_ns = saturating_add(*clock.error_ns, drift_error_ns(files_[file], known));
  }

  bool is_known(std::size_t file) const {
    const FileClock& clock = clocks_[file];
    if (clock.method != ClockMethod::merged) return clock.method != ClockMethod::none;
    const std::optional<std::int64_t>& first_ns = files_[file].first_ns;
    return first_ns && is_unix_time(saturating_add(*first_ns, clock.offset_ns));
  }

  void tell_rounds(std::size_t file) {
    const RankSync* const sync = synced_by_[file];
    if (sync == nullptr || sync != cycles_.own[file] || sync != &sync->first()) return;
    const CycleRounds stamps = sync->rounds();
    clocks_[file].rounds = {on_common_clock(stamps.start, file), on_common_clock(stamps.end, file)};
  }

  // Returns empty rounds if a stamp is not usable on the common clock.
  SyncRounds on_common_clock(SyncRounds rounds, std::size_t file) const {
    const std::int64_t base_ns = files_[file].base_ns.value_or(0);
    for (std::vector<std::int64_t>* const times : {&rounds.enter_ns, &rounds.exit_ns})
      for (std::int64_t& ns : *times)
        if (!clocks_[file].times.map(saturating_subtract(ns, base_ns), ns) || !is_usable_stamp(ns))
          return {};
    return is_possible(rounds) ? rounds : SyncRounds{};
  }

  void count_no_clock() {
    if (options_.align_by == AlignBy::none) return;
    const bool any_sync = std::ranges::any_of(
        clocks_, [](const FileClock& clock) { return is_by_sync(clock.method); });
    const bool any_known = std::ranges::any_of(clocks_, &FileClock::is_known);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      FileClock& clock = clocks_[i];
      if (synced_by_[i] != nullptr && !synced_by_[i]->cycle->is_linked) {
        clock.problems.add(
            Problem::no_clock, 0, 1,
            fmt::format("rank {}, whose clock sync is of cycles that the others do not have",
                        files_[i].rank));
        continue;
      }
      const bool is_absolute = clock.method == ClockMethod::base ||
                               clock.method == ClockMethod::epoch ||
                               clock.method == ClockMethod::merged;
      if ((clock.method == ClockMethod::none && any_known) || (is_absolute && any_sync))
        clock.problems.add(Problem::no_clock, 0, 1, fmt::format("rank {}", files_[i].rank));
    }
  }

  const std::vector<ClockFacts>& files_;
  const ClockOptions& options_;
  std::vector<FileClock> clocks_;
  const SyncCycles cycles_;
  std::vector<const RankSync*> synced_by_;  // sync of each file; nullptr for other methods
  // drift line of each file; null if the drift is not known
  std::vector<std::shared_ptr<const TimeMap::Line>> drifts_;
  std::vector<std::shared_ptr<const TimeMap::Line>> lines_;  // lines by which files are mapped
  std::map<std::size_t, KnownShift> placed_;  // without a sync, placed by machine or sync events
};

}  // namespace

std::vector<FileClock> align(const std::vector<ClockFacts>& files, const ClockOptions& options) {
  return Aligner(files, options).run();
}

namespace {

// Rounds up.
std::int64_t worst_drift_ns(std::int64_t distance_ns) {
  return static_cast<std::int64_t>(
      (Int128{std::max<std::int64_t>(distance_ns, 0)} * kWorstDriftPpm + 999'999) / 1'000'000);
}

}  // namespace

KnownShift known_by_events(const ClockFacts& file) {
  const std::int64_t base_ns = file.base_ns.value_or(0);
  const auto [first, last] = std::ranges::minmax(file.sync_events, {}, &SyncEvent::moment_ns);
  return {.from_ns = saturating_add(first.moment_ns, base_ns),
          .to_ns = saturating_add(last.moment_ns, base_ns)};
}

std::int64_t drift_error_ns(const ClockFacts& file, const KnownShift& known) {
  if (!file.first_ns) return 0;
  const std::int64_t base_ns = file.base_ns.value_or(0);
  const std::int64_t first_ns = saturating_add(*file.first_ns, base_ns);
  const std::int64_t last_ns = saturating_add(file.last_ns.value_or(*file.first_ns), base_ns);
  if (known.line == nullptr)
    return worst_drift_ns(std::max(saturating_subtract(last_ns, known.from_ns),
                                   saturating_subtract(known.to_ns, first_ns)));
  const TimeMap line(0, 0, known.line);
  std::vector<std::int64_t> moments{first_ns, last_ns};
  for (const TimeMap::Knot& knot : known.line->knots)
    if (first_ns < knot.at_ns && knot.at_ns < last_ns) moments.push_back(knot.at_ns);
  std::int64_t worst_ns = 0;
  for (const std::int64_t ns : moments) {
    const std::int64_t on_line =
        std::clamp(ns, known.line->knots.front().at_ns, known.line->knots.back().at_ns);
    const std::int64_t shift_ns = saturating_subtract(line.mapped_or_same(on_line), on_line);
    worst_ns = std::max(worst_ns, saturating_add(apart(shift_ns, known.shift_ns),
                                                 worst_drift_ns(apart(ns, on_line))));
  }
  return worst_ns;
}

}  // namespace traceloom
