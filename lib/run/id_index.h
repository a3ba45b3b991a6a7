// IdIndex: finds the object that an id meant at a certain time. Ids (correlation, External id)
// start again in each process, and one file may hold the events of several processes (a merge). So
// an id is valid only in its file; if several objects there have the id, the last one that had
// begun is used.
//
//   IdIndex<std::uint32_t> calls;
//   calls.add(file, call.correlation, call.start_ns, node);
//   calls.sort();
//   if (const std::uint32_t* node = calls.find(file, work.correlation, work.start_ns)) use(*node);
#pragma once

#include "run/event_columns.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace traceloom {

template <typename Value>
class IdIndex {
 public:
  // Adds nothing if `id` is kNoId.
  void add(std::size_t file, std::int64_t id, std::int64_t start_ns, Value value) {
    if (id != kNoId)
      entries_.push_back({id, start_ns, static_cast<std::uint32_t>(file), std::move(value)});
  }

  // Call it after the last add() and before the first find().
  void sort() {
    const auto before = [](const Entry& a, const Entry& b) { return a.key() < b.key(); };
    if (!std::is_sorted(entries_.begin(), entries_.end(), before))
      std::stable_sort(entries_.begin(), entries_.end(), before);
  }

  // Among the objects with that id, returns the last one that had begun at `at_ns`, or else the
  // first one. Returns nullptr if no object of the file has the id.
  const Value* find(std::size_t file, std::int64_t id, std::int64_t at_ns) const {
    if (id == kNoId) return nullptr;
    const auto number = static_cast<std::uint32_t>(file);
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), std::tuple(number, id, at_ns),
        [](const auto& wanted, const Entry& entry) { return wanted < entry.key(); });
    const auto is_wanted = [&](const Entry& entry) {
      return entry.file == number && entry.id == id;
    };
    if (after != entries_.begin() && is_wanted(*(after - 1))) return &(after - 1)->value;
    return after != entries_.end() && is_wanted(*after) ? &after->value : nullptr;
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

  std::vector<Entry> entries_;  // sorted by key()
};

}  // namespace traceloom
