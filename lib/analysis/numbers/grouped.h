// Grouped: sums by keys of a few numbers each.
//
//   Grouped<KernelTimes, 2> groups;
//   groups[{rank, label}].add(span);
//   groups.for_each([&](const auto& key, KernelTimes& times) { ... });
//
// Groups stand in the order in which their keys first appear.
#pragma once

#include "base/string_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>

namespace traceloom {

template <typename Group, std::size_t kParts>
class Grouped {
 public:
  using Key = std::array<std::int64_t, kParts>;

  // The group stays in its place until destruction.
  Group& operator[](const Key& key) {
    const std::uint32_t number =
        keys_.intern({reinterpret_cast<const char*>(key.data()), sizeof(Key)});
    if (number == groups_.size()) groups_.push_back({key, Group{}});
    return groups_[number].second;
  }

  template <typename Use>
  void for_each(Use use) {
    for (auto& [key, group] : groups_) use(key, group);
  }
  std::size_t size() const { return groups_.size(); }

 private:
  StringTable keys_;
  std::deque<std::pair<Key, Group>> groups_;
};

}  // namespace traceloom
