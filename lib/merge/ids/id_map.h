// IdMap: makes the ids of flows and async events unique over all files of a merge.
//
// Ids restart in every process and every profiling cycle, while viewers key flows by id, category
// and name over the whole trace: two ranks with the same correlation id would get arrows into each
// other. So each file has a range of numbers of its own in the output, and all ranges have one
// size. A whole number n becomes begin + n, and with a power of ten as size it can still be read in
// the result. Any other id (hexadecimal text, a pointer, a negative number) gets a number of its
// own, from the end of the range down.
//
//   IdSet ids;  ids.add("31");  ids.add("\"0x7f\"");       // while surveying a file
//   IdMap map(ids, 3000, 1000);                            // while writing it
//   map.number("31") == 3031;  map.number("\"0x7f\"") == 3999;
#pragma once

#include "base/string_table.h"
#include "flows/flow_id.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Whole numbers below the limit keep their distance from each other; others count as text. The
// numbers of an earlier merge are far apart but belong together, so for them the limit is what a
// JavaScript number holds.
inline constexpr std::uint64_t kPlainIdLimit = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMergedIdLimit = kWholeIdLimit;

// The ids that one file uses. Memory: only the ids that are no plain numbers below kPlainIdLimit.
class IdSet {
 public:
  // `key` is the id as id_key() spells it.
  void add(std::string_view key);
  void add(const IdSet& other);
  bool empty() const { return max_number_ == 0 && others_.size() == 0; }
  // Returns how large a range the ids need if numbers below `limit` are plain.
  std::uint64_t range(std::uint64_t limit = kPlainIdLimit) const {
    return (limit > kPlainIdLimit ? std::max(max_number_, max_large_) : max_number_) +
           others_.size() + 1;
  }
  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(max_number_, max_large_, others_);
  }

 private:
  friend class IdMap;
  std::uint64_t max_number_ = 0;
  std::uint64_t max_large_ = 0;  // at least kPlainIdLimit, below kMergedIdLimit; also in others_
  StringTable others_;           // in order of first appearance
};

// Returns the smallest power of ten that each of these ranges fits into, or 0 if no range has ids
// (all are below 2). A single range is returned as it is: its numbers stay the same however often
// the file is merged.
std::uint64_t common_id_range(const std::vector<std::uint64_t>& ranges);

class IdMap {
 public:
  // Gives numbers in [begin + 1, begin + range). `range` must be at least ids.range(limit) unless
  // ids is empty; `ids` must outlive the map.
  IdMap(const IdSet& ids, std::uint64_t begin, std::uint64_t range,
        std::uint64_t limit = kPlainIdLimit)
      : ids_(&ids), begin_(begin), end_(begin + range), limit_(limit) {}

  // Returns the number of an id that is in the set.
  std::uint64_t number(std::string_view key) const;
  // Returns nullopt for an id that cannot be in the set.
  std::optional<std::uint64_t> find(std::string_view key) const;
  // Returns the begin for the next file.
  std::uint64_t end() const { return end_; }

  // True if both maps give the same number to each id.
  bool operator==(const IdMap& other) const;

 private:
  const IdSet* ids_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t limit_;
};

// Returns the number of an id that means the same in all files: a whole number stays what it is,
// any other id becomes a number from 2^52 up that depends on its text alone. So files that are
// merged on their own still fit together. (Two of a million such ids get the same number once in
// 9,000 merges.)
std::uint64_t shared_id_number(std::string_view key);

}  // namespace traceloom
