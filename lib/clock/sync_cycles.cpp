#include "clock/sync_cycles.h"

#include "base/optional_value.h"

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
  std::sort(order.begin(), order.end());
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

}  // namespace traceloom
