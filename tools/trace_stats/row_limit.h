// RowLimit refuses traces whose names, streams or counters would make more rows than anybody reads,
// before the rows take memory.
//
//   RowLimit limit("kernels", most);
//   limit.add({rank, label, 0, 0});   // for each event; throws UsageError for one key too many
#pragma once

#include "analysis/numbers.h"
#include "run/run.h"

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

namespace traceloom {

class RowLimit {
 public:
  using Key = GroupKey<4>;
  using Keys = std::unordered_set<Key, GroupHash>;

  static constexpr std::size_t kMost = 50'000;

  RowLimit(std::string command, std::size_t most) : command_(std::move(command)), most_(most) {}

  void add(const Key& key);
  // Adds the keys of the events of all ranks: find(rank, add) calls add(key) for each. All
  // processes of a team call it.
  using AddKey = std::function<void(const Key&)>;
  void add_ranks(const Run& run, const std::function<void(const RankEvents&, const AddKey&)>& find);

 private:
  std::string command_;
  std::size_t most_;
  Keys rows_;
};

// Counts a row for each stream of each rank.
void count_streams(const Run& run, RowLimit& limit);
// Counts a row for each value of each counter, for each rank or for all together.
void count_counters(const Run& run, bool by_rank, RowLimit& limit);

}  // namespace traceloom
