// Finds what an id meant at a time, and so the call of the host that launched a piece of device
// work.
#pragma once

#include "run/event_columns.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace traceloom {

// IdIndex: finds the object that an id meant at a certain time. Ids (correlation, External id)
// start again in each process, and one file may hold the events of several processes (a merge). So
// an id is valid only in its file; if several objects there have the id, the last one that had
// begun is used.
//
//   IdIndex<std::uint32_t> calls;
//   calls.add(file, call.correlation, call.start_ns, node);
//   calls.sort();
//   if (const std::uint32_t* node = calls.find(file, work.correlation, work.start_ns)) use(*node);

template <typename Value>
class IdIndex {
 public:
  void reserve(std::size_t count) { entries_.reserve(count); }

  // Adds nothing if `id` is kNoId.
  void add(std::size_t file, std::int64_t id, std::int64_t start_ns, Value value) {
    if (id != kNoId)
      entries_.push_back({id, start_ns, static_cast<std::uint32_t>(file), std::move(value)});
  }

  // Call it after the last add() and before the first find().
  void sort() {
    merge_runs();
    fill_buckets();
  }

  // Among the objects with that id, returns the last one that had begun at `at_ns`, or else the
  // first one. Returns nullptr if no object of the file has the id.
  const Value* find(std::size_t file, std::int64_t id, std::int64_t at_ns) const {
    if (id == kNoId) return nullptr;
    const auto number = static_cast<std::uint32_t>(file);
    const auto [begin, end] = entries_around(id);
    const auto after = std::upper_bound(
        begin, end, std::tuple(number, id, at_ns),
        [](const auto& wanted, const Entry& entry) { return wanted < entry.key(); });
    const auto is_wanted = [&](const Entry& entry) {
      return entry.file == number && entry.id == id;
    };
    if (after != begin && is_wanted(*(after - 1))) return &(after - 1)->value;
    return after != end && is_wanted(*after) ? &after->value : nullptr;
  }

 private:
  struct Entry {
    std::int64_t id;
    std::int64_t start_ns;
    std::uint32_t file;
    Value value;

    std::tuple<std::uint32_t, std::int64_t, std::int64_t> key() const {
      return {file, id, start_ns};
    }
  };
  using Place = typename std::vector<Entry>::const_iterator;

  // Sorts. Ids ascend on each thread, so that the entries mostly are a few runs in order, and
  // merging these takes a fraction of sorting.
  void merge_runs() {
    constexpr std::size_t kMostRuns = 32;
    const auto before = [](const Entry& a, const Entry& b) { return a.key() < b.key(); };
    std::vector runs{entries_.begin()};
    while (runs.back() != entries_.end() && runs.size() <= kMostRuns)
      runs.push_back(std::is_sorted_until(runs.back(), entries_.end(), before));
    if (runs.back() != entries_.end())
      return std::stable_sort(entries_.begin(), entries_.end(), before);
    while (runs.size() > 2) {
      std::size_t kept = 1;
      for (std::size_t i = 2; i <= runs.size(); i += 2) {
        const std::size_t last = std::min(i, runs.size() - 1);
        if (last == i) std::inplace_merge(runs[i - 2], runs[i - 1], runs[i], before);
        runs[kept++] = runs[last];
      }
      runs.resize(kept);
    }
  }

  // Divides the ids of a single file into as many ranges as there are entries, or up to twice as
  // many. Ids are mostly spread evenly, so that a range has few of them.
  void fill_buckets() {
    if (entries_.empty() || entries_.front().file != entries_.back().file) return;
    const std::uint64_t most = distance(entries_.back().id);
    while (most >> shift_ >= 2 * entries_.size()) ++shift_;
    buckets_.reserve((most >> shift_) + 2);
    for (std::uint32_t i = 0; i < entries_.size(); ++i)
      buckets_.resize((distance(entries_[i].id) >> shift_) + 1, i);
    buckets_.push_back(static_cast<std::uint32_t>(entries_.size()));
  }

  std::uint64_t distance(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(entries_.front().id);
  }

  // Returns a range with all entries of that id.
  std::pair<Place, Place> entries_around(std::int64_t id) const {
    if (buckets_.empty()) return {entries_.begin(), entries_.end()};
    const std::uint64_t bucket = distance(id) >> shift_;
    if (bucket >= buckets_.size() - 1) return {entries_.end(), entries_.end()};
    return {entries_.begin() + buckets_[bucket], entries_.begin() + buckets_[bucket + 1]};
  }

  std::vector<Entry> entries_;          // sorted by key()
  std::vector<std::uint32_t> buckets_;  // where each range of ids begins; and the end
  unsigned shift_ = 0;                  // a range has 2^shift_ ids
};

// Launches: finds the call of the host that launched a piece of device work.
//
//   Launches launches(rank.parts);
//   for (const EventColumns& part : rank.parts)
//     for (const DeviceSpan& span : part.devices)
//       if (const CallSpan* call = launches.find(part, span)) delay = span.start_ns - call->end_ns;

// Serves one rank, whose parts must outlive it. A call may have launched several pieces (CUDA
// graphs).
class Launches {
 public:
  explicit Launches(const std::vector<EventColumns>& parts);

  // Returns the call in the file of `part`, to which the work belongs, by the rule of IdIndex. The
  // call may be outside the selection (EventColumns::calls_outside). Returns nullptr if no call
  // there has the work's correlation.
  const CallSpan* find(const EventColumns& part, const DeviceSpan& work) const {
    return find(part.file, work);
  }
  // The same for work in the file with that number (EventColumns::file).
  const CallSpan* find(std::size_t file, const DeviceSpan& work) const;

  // Marks the call that find() returns.
  void mark(const EventColumns& part, const DeviceSpan& work);
  bool is_marked(const CallSpan& call) const;

 private:
  // Most correlations belong to one call and are close to each other; those need no sorting.
  struct Slot {
    const CallSpan* call = nullptr;
    std::size_t file = 0;
    bool has_others = false;
    bool is_marked = false;
  };

  void make_slots(const std::vector<EventColumns>& parts);
  // Returns the place in slots_ of a correlation; a larger number if it has none.
  std::uint64_t place_of(std::int64_t id) const {
    if (id == kNoId) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first_id_);
  }

  std::int64_t first_id_ = 0;
  std::vector<Slot> slots_;         // indexed by correlation - first_id_
  IdIndex<const CallSpan*> calls_;  // for correlations that several calls have, or for all if there
                                    // are no slots
  std::unordered_set<const CallSpan*> marked_;  // of `calls_`
};

// link_launches: gives ids to calls and device work that have no `correlation`, so that all who ask
// for launches get one answer.
//
//   link_launches(parts);                                // of one file, once it has been read

// Gives calls and device work without a correlation the id that links them:
//
// 1. their External id, if a call and a piece of work share one: torch for ROCm writes there what
//    is the correlation for CUDA. It is then removed as an External id, because it is not that of
//    an operator. Where events have correlations, their External ids are those of operators.
// 2. otherwise the id of the arrow (ac2g) that starts at the begin of the call, and ends at the
//    begin of the work.
//
// The new ids differ from all correlations of the file. Afterwards no part has `arrows`. All parts
// belong to one file.
void link_launches(std::vector<EventColumns>& parts);

}  // namespace traceloom
