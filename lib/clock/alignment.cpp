#include "clock/alignment.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

// Moments stay below this, so that the difference of two of them always fits.
constexpr std::int64_t kMaxMomentNs = std::int64_t{1} << 62;

std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> nanoseconds(std::int64_t us) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(us, std::int64_t{1000}, &result)) return std::nullopt;
  return result;
}

bool is_moment(std::optional<std::int64_t> ns) {
  return ns && *ns > -kMaxMomentNs && *ns < kMaxMomentNs;
}

bool is_stronger_than_events(ClockMethod method) {
  return method == ClockMethod::given || method == ClockMethod::sync ||
         method == ClockMethod::sync_of_rank || method == ClockMethod::merged;
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

// A cycle's name, and the how-maniest of that name on the rank it is: files of two runs carry the
// same names.
using Label = std::pair<std::string, std::size_t>;

// A moment that ranks stamped, on the common clock.
struct Cycle {
  std::int64_t moment_ns = 0;
  std::optional<std::int64_t> bound_us;
};

// One stamp of one rank, and the files that carry it.
struct Sync {
  std::int64_t ns = 0;
  std::vector<std::size_t> files;
  std::set<Label> labels;
  std::size_t cycle = 0;
  bool is_placed = false;
};

// The one nearest to `ns`, the earlier of two; nullptr when there is none. `syncs` are sorted.
const Sync* nearest(const std::vector<const Sync*>& syncs, std::int64_t ns) {
  const auto later =
      std::lower_bound(syncs.begin(), syncs.end(), ns,
                       [](const Sync* sync, std::int64_t value) { return sync->ns < value; });
  if (later == syncs.begin()) return syncs.empty() ? nullptr : syncs.front();
  const Sync* const before = *std::prev(later);
  if (later == syncs.end() || distance(before->ns, ns) <= distance((*later)->ns, ns)) return before;
  return *later;
}

class Aligner {
 public:
  Aligner(const std::vector<ClockFacts>& files, const ClockOptions& options)
      : files_(files), options_(options), clocks_(files.size()), own_sync_(files.size()) {}

  std::vector<FileClock> run() {
    gather_syncs();
    for (auto& [rank, syncs] : syncs_of_rank_) {
      place(syncs);
      placed_of_rank_[rank] = placed(syncs);
    }
    gather_cycles();
    for (std::size_t i = 0; i < files_.size(); ++i) decide(i);
    place_by_events();
    for (std::size_t i = 0; i < files_.size(); ++i) map_times(i);
    count_no_clock();
    return std::move(clocks_);
  }

 private:
  bool goes_by_sync(const ClockFacts& file) const;
  void gather_syncs();
  void place(std::vector<Sync>& syncs);
  bool find_by_label(std::vector<Sync>& syncs) const;
  void find_by_order(std::vector<Sync>& syncs) const;
  void add_cycle(Sync& sync, std::int64_t shift_ns);
  void gather_cycles();
  void decide(std::size_t file);
  bool apply_sync(std::size_t file);
  const Sync* sync_of_rank(const ClockFacts& file) const;
  void place_by_events();
  std::optional<std::size_t> root_of(const std::vector<std::size_t>& group, bool is_first) const;
  void map_times(std::size_t file);
  void count_no_clock();

  std::int64_t shift(const Sync& sync) const { return cycles_[sync.cycle].moment_ns - sync.ns; }
  static std::vector<const Sync*> placed(const std::vector<Sync>& syncs);

  const std::vector<ClockFacts>& files_;
  const ClockOptions& options_;
  std::vector<FileClock> clocks_;
  std::map<std::int64_t, std::vector<Sync>> syncs_of_rank_;  // by time
  std::map<std::int64_t, std::vector<const Sync*>> placed_of_rank_;
  std::vector<const Sync*> own_sync_;  // of each file: nullptr when it has none that is placed
  std::vector<Cycle> cycles_;
  std::map<Label, std::size_t> cycle_of_label_;
};

bool Aligner::goes_by_sync(const ClockFacts& file) const {
  return !file.is_merged && !options_.offsets.contains(file.rank) &&
         (options_.align_by == AlignBy::any || options_.align_by == AlignBy::sync);
}

void Aligner::gather_syncs() {
  std::map<std::int64_t, std::map<std::int64_t, Sync>> by_value;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const ClockFacts& file = files_[i];
    if (!goes_by_sync(file) || !file.sync_us) continue;
    const std::optional<std::int64_t> ns = nanoseconds(*file.sync_us);
    if (is_moment(ns))
      by_value[file.rank][*ns].files.push_back(i);
    else
      clocks_[i].problems.add(Problem::bad_sync, 0);
  }
  for (auto& [rank, values] : by_value) {
    std::map<std::string, std::size_t> met;
    for (auto& [ns, sync] : values) {
      sync.ns = ns;
      std::set<std::string> names;
      for (const std::size_t file : sync.files) names.insert(files_[file].cycle);
      names.erase("");
      for (const std::string& name : names) sync.labels.emplace(name, met[name]++);
      syncs_of_rank_[rank].push_back(std::move(sync));
    }
  }
}

// The first rank to come here is the reference: there is no cycle yet, so each of its syncs starts
// one, unshifted.
void Aligner::place(std::vector<Sync>& syncs) {
  if (!find_by_label(syncs)) find_by_order(syncs);
  const std::vector<const Sync*> found = placed(syncs);
  std::vector<std::pair<Sync*, std::int64_t>> others;
  for (Sync& sync : syncs) {
    const Sync* const neighbour = nearest(found, sync.ns);
    if (!sync.is_placed) others.emplace_back(&sync, neighbour == nullptr ? 0 : shift(*neighbour));
  }
  for (const auto& [sync, shift_ns] : others) add_cycle(*sync, shift_ns);
}

bool Aligner::find_by_label(std::vector<Sync>& syncs) const {
  std::set<std::size_t> taken;
  for (Sync& sync : syncs) {
    for (const Label& label : sync.labels) {
      const auto known = cycle_of_label_.find(label);
      if (sync.is_placed || known == cycle_of_label_.end()) continue;
      sync.cycle = known->second;
      sync.is_placed = taken.insert(sync.cycle).second;
    }
  }
  return !taken.empty();
}

void Aligner::find_by_order(std::vector<Sync>& syncs) const {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < cycles_.size(); ++i) order.emplace_back(cycles_[i].moment_ns, i);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(order.size(), syncs.size()); ++i) {
    syncs[i].cycle = order[i].second;
    syncs[i].is_placed = true;
  }
}

void Aligner::add_cycle(Sync& sync, std::int64_t shift_ns) {
  const std::optional<std::int64_t> moment = sum(sync.ns, shift_ns);
  if (!is_moment(moment)) {
    for (const std::size_t file : sync.files) clocks_[file].problems.add(Problem::bad_sync, 0);
    return;
  }
  sync.cycle = cycles_.size();
  sync.is_placed = true;
  cycles_.push_back({*moment, std::nullopt});
  for (const Label& label : sync.labels) cycle_of_label_.emplace(label, sync.cycle);
}

void Aligner::gather_cycles() {
  for (const auto& [rank, syncs] : placed_of_rank_) {
    for (const Sync* sync : syncs) {
      std::optional<std::int64_t>& least = cycles_[sync->cycle].bound_us;
      for (const std::size_t file : sync->files) {
        own_sync_[file] = sync;
        const std::optional<std::int64_t>& bound = files_[file].error_bound_us;
        if (bound && *bound >= 0 && (!least || *bound < *least)) least = bound;
      }
    }
  }
}

std::vector<const Sync*> Aligner::placed(const std::vector<Sync>& syncs) {
  std::vector<const Sync*> found;
  for (const Sync& sync : syncs)
    if (sync.is_placed) found.push_back(&sync);
  return found;
}

// The sync of its rank that a file without one of its own goes by.
const Sync* Aligner::sync_of_rank(const ClockFacts& file) const {
  const auto rank = placed_of_rank_.find(file.rank);
  if (rank == placed_of_rank_.end() || rank->second.empty()) return nullptr;
  const std::vector<const Sync*>& syncs = rank->second;
  if (!file.cycle.empty())
    for (const Sync* sync : syncs)
      if (sync->labels.contains({file.cycle, 0})) return sync;
  const std::optional<std::int64_t> start =
      file.first_ns ? sum(*file.first_ns, file.base_ns.value_or(0)) : std::nullopt;
  const bool is_comparable = start && is_unix_time(*start) == is_unix_time(syncs.front()->ns);
  return is_comparable ? nearest(syncs, *start) : syncs.front();
}

bool Aligner::apply_sync(std::size_t file) {
  const Sync* const own = own_sync_[file];
  const Sync* const sync = own != nullptr ? own : sync_of_rank(files_[file]);
  if (sync == nullptr) return false;
  FileClock& clock = clocks_[file];
  const std::optional<std::int64_t> offset = sum(files_[file].base_ns.value_or(0), shift(*sync));
  if (!offset) {
    clock.problems.add(Problem::bad_sync, 0);
    return false;
  }
  clock.method = own != nullptr ? ClockMethod::sync : ClockMethod::sync_of_rank;
  clock.offset_ns = *offset;
  if (const std::optional<std::int64_t> bound = cycles_[sync->cycle].bound_us)
    if (const std::optional<std::int64_t> us = sum(*bound, 1)) clock.error_ns = nanoseconds(*us);
  return true;
}

void Aligner::decide(std::size_t file) {
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

// Files that share moments, by those.
void Aligner::place_by_events() {
  if (options_.align_by != AlignBy::any && options_.align_by != AlignBy::sync) return;
  std::vector<SyncNode> nodes(files_.size());
  for (std::size_t i = 0; i < files_.size(); ++i) {
    nodes[i].events = files_[i].sync_events;
    if (is_stronger_than_events(clocks_[i].method)) nodes[i].offset_ns = clocks_[i].offset_ns;
  }
  std::vector<std::size_t> placed;
  bool is_first = true;  // of the groups without a clock sync
  for (const std::vector<std::size_t>& group : connected_by_sync_events(nodes)) {
    const bool has_anchor = std::any_of(group.begin(), group.end(), [&](std::size_t file) {
      return nodes[file].offset_ns.has_value();
    });
    if (!has_anchor) {
      const std::optional<std::size_t> root = root_of(group, std::exchange(is_first, false));
      if (!root) continue;
      nodes[*root].offset_ns = clocks_[*root].offset_ns;
    }
    placed.insert(placed.end(), group.begin(), group.end());
  }
  const std::vector<std::optional<SyncPlace>> places = place_by_sync_events(nodes);
  for (const std::size_t file : placed) {
    if (is_stronger_than_events(clocks_[file].method) || !places[file]) continue;
    clocks_[file].method = ClockMethod::sync_event;
    clocks_[file].offset_ns = places[file]->offset_ns;
    clocks_[file].error_ns = places[file]->error_ns;
  }
}

// The file whose clock is that of a group without any clock sync; nullopt when there is none to
// compare it with other files by.
std::optional<std::size_t> Aligner::root_of(const std::vector<std::size_t>& group,
                                            bool is_first) const {
  const auto has_clock = [&](std::size_t file) {
    return clocks_[file].method != ClockMethod::none;
  };
  const auto root = std::find_if(group.begin(), group.end(), has_clock);
  if (root != group.end()) return *root;
  for (std::size_t file = 0; file < files_.size(); ++file)
    if (has_clock(file)) return std::nullopt;
  return is_first ? std::optional(group.front()) : std::nullopt;
}

void Aligner::map_times(std::size_t file) {
  const std::int64_t offset_ns = clocks_[file].offset_ns;
  const std::int64_t base_ns =
      options_.align_by == AlignBy::none ? 0 : files_[file].relative_base_ns.value_or(0);
  clocks_[file].times = TimeMap(sum(offset_ns, base_ns).value_or(offset_ns), offset_ns);
}

void Aligner::count_no_clock() {
  if (options_.align_by == AlignBy::none) return;
  const auto any = [&](auto predicate) {
    return std::any_of(clocks_.begin(), clocks_.end(),
                       [&](const FileClock& clock) { return predicate(clock.method); });
  };
  const bool any_sync = any([](ClockMethod method) { return method == ClockMethod::sync; });
  const bool any_evidence = any([](ClockMethod method) { return method != ClockMethod::none; });
  for (FileClock& clock : clocks_) {
    const bool is_absolute =
        clock.method == ClockMethod::base || clock.method == ClockMethod::epoch;
    if ((clock.method == ClockMethod::none && any_evidence) || (is_absolute && any_sync))
      clock.problems.add(Problem::no_clock, 0);
  }
}

}  // namespace

std::string_view to_string(ClockMethod method) {
  switch (method) {
    case ClockMethod::sync:
      return "sync";
    case ClockMethod::sync_of_rank:
      return "sync_of_rank";
    case ClockMethod::sync_event:
      return "sync_event";
    case ClockMethod::base:
      return "base";
    case ClockMethod::epoch:
      return "epoch";
    case ClockMethod::merged:
      return "merged";
    case ClockMethod::given:
      return "given";
    case ClockMethod::none:
      return "none";
  }
  return {};
}

std::optional<AlignBy> parse_align_by(std::string_view name) {
  if (name == "auto") return AlignBy::any;
  if (name == "sync") return AlignBy::sync;
  if (name == "base") return AlignBy::base;
  if (name == "none") return AlignBy::none;
  return std::nullopt;
}

std::vector<FileClock> align(const std::vector<ClockFacts>& files, const ClockOptions& options) {
  return Aligner(files, options).run();
}

std::int64_t common_origin_ns(const std::vector<ClockFacts>& files,
                              const std::vector<FileClock>& clocks) {
  std::optional<std::int64_t> origin;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const std::optional<std::int64_t>& first :
         {files[i].first_ns, files[i].first_relative_ns}) {
      std::int64_t start = 0;
      if (first && clocks[i].times.map(*first, start))
        origin = std::min(start, origin.value_or(start));
    }
  }
  if (!origin) return 0;
  const std::int64_t rest = (*origin % 1000 + 1000) % 1000;
  // The lowest microsecond of int64 has no whole one below it.
  return sum(*origin, -rest).value_or(*origin - *origin % 1000);
}

}  // namespace traceloom
