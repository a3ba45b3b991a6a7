#include "clock/sync_cycles.h"

#include <algorithm>

namespace traceloom {
namespace {

// Moments stay below this, so that the difference of two of them always fits.
constexpr std::int64_t kMaxMomentNs = std::int64_t{1} << 62;

std::optional<std::int64_t> nanoseconds(std::int64_t us) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(us, std::int64_t{1000}, &result)) return std::nullopt;
  return result;
}

bool is_moment(std::optional<std::int64_t> ns) {
  return ns && *ns > -kMaxMomentNs && *ns < kMaxMomentNs;
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

}  // namespace

SyncCycles::SyncCycles(const std::vector<ClockFacts>& files, const std::vector<bool>& wants_sync)
    : files_(files), own_(files.size()) {
  gather_syncs(wants_sync);
  for (auto& [rank, syncs] : syncs_of_rank_) {
    place(syncs);
    placed_of_rank_[rank] = placed(syncs);
  }
  gather_cycles();
}

const RankSync* nearest_sync(const std::vector<const RankSync*>& syncs, std::int64_t ns) {
  const auto later =
      std::lower_bound(syncs.begin(), syncs.end(), ns,
                       [](const RankSync* sync, std::int64_t value) { return sync->ns < value; });
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
      syncs_of_rank_[rank].push_back(std::move(sync));
    }
  }
}

// The first rank to come here is the reference: there is no cycle yet, so each of its syncs starts
// one, unshifted.
void SyncCycles::place(std::vector<RankSync>& syncs) {
  const bool is_reference = cycles_.empty();
  if (!find_by_label(syncs)) find_by_order(syncs);
  const std::vector<const RankSync*> found = placed(syncs);
  std::vector<std::pair<RankSync*, std::int64_t>> others;
  for (RankSync& sync : syncs) {
    const RankSync* const neighbour = nearest_sync(found, sync.ns);
    if (!sync.is_placed)
      others.emplace_back(&sync, neighbour == nullptr ? 0 : shift_ns(*neighbour));
  }
  for (const auto& [sync, shift] : others) add_cycle(*sync, shift, is_reference);
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

void SyncCycles::find_by_order(std::vector<RankSync>& syncs) const {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < cycles_.size(); ++i) order.emplace_back(cycles_[i].moment_ns, i);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(order.size(), syncs.size()); ++i) {
    syncs[i].cycle = order[i].second;
    syncs[i].is_placed = true;
  }
}

void SyncCycles::add_cycle(RankSync& sync, std::int64_t shift_ns, bool is_of_reference) {
  const std::optional<std::int64_t> moment = sum(sync.ns, shift_ns);
  if (!is_moment(moment)) {
    bad_syncs_.insert(bad_syncs_.end(), sync.files.begin(), sync.files.end());
    return;
  }
  sync.cycle = cycles_.size();
  sync.is_placed = true;
  cycles_.push_back({*moment, std::nullopt, is_of_reference});
  for (const CycleLabel& label : sync.labels) cycle_of_label_.emplace(label, sync.cycle);
}

void SyncCycles::gather_cycles() {
  for (const auto& [rank, syncs] : placed_of_rank_) {
    for (const RankSync* sync : syncs) {
      cycles_[sync->cycle].syncs.push_back(sync);
      std::optional<std::int64_t>& least = cycles_[sync->cycle].bound_us;
      for (const std::size_t file : sync->files) {
        own_[file] = sync;
        const std::optional<std::int64_t>& bound = files_[file].error_bound_us;
        if (bound && *bound >= 0 && (!least || *bound < *least)) least = bound;
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

std::vector<std::int64_t> SyncCycles::ranks() const {
  std::vector<std::int64_t> ranks;
  ranks.reserve(placed_of_rank_.size());
  for (const auto& [rank, syncs] : placed_of_rank_) ranks.push_back(rank);
  return ranks;
}

std::optional<std::int64_t> SyncCycles::error_ns(const RankSync& sync) const {
  const std::optional<std::int64_t> bound = cycles_[sync.cycle].bound_us;
  const std::optional<std::int64_t> us = bound ? sum(*bound, 1) : std::nullopt;
  return us ? nanoseconds(*us) : std::nullopt;
}

}  // namespace traceloom
