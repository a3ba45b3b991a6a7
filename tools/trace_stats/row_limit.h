// RowLimit: refuses traces whose names, streams or counters would make more rows than anybody
// reads, before the rows take their memory.
//
//   RowLimit limit("kernels", most);
//   limit.add({rank, label, 0, 0});   // of each event; throws UsageError with one key too many
#pragma once

#include "analysis/numbers/grouped.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace traceloom {

class RowLimit {
 public:
  using Key = std::array<std::int64_t, 4>;

  static constexpr std::size_t kMost = 50'000;

  RowLimit(std::string command, std::size_t most) : command_(std::move(command)), most_(most) {}

  void add(const Key& key);

 private:
  struct Nothing {};

  std::string command_;
  std::size_t most_;
  Grouped<Nothing, 4> rows_;
};

// A row for each stream of each rank.
void count_streams(const Run& run, RowLimit& limit);
// A row for each value of each counter, of each rank or of all.
void count_counters(const Run& run, bool by_rank, RowLimit& limit);

}  // namespace traceloom
