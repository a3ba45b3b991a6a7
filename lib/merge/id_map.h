// Ids of flows and async events, made unique over all files of a merge.
//
// Ids restart in every process and every profiling cycle, while viewers key flows by id, category
// and name over the whole trace: two ranks with the same correlation id get arrows into each other.
// So each file has a range of numbers of its own in the output: a whole number n becomes base + n;
// any other id (hexadecimal text, a pointer, a negative number) gets a number of its own behind
// them.
//
//   IdSet ids;  ids.add("31");  ids.add("\"0x7f\"");       // while surveying a file
//   IdMap map(ids, 100);  map.number("31") == 131;          // while writing it
#pragma once

#include "base/string_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// The ids that one file uses. Memory: only the ids that are no plain numbers below 2^40.
class IdSet {
 public:
  // `key` is the id as id_key() spells it.
  void add(std::string_view key);
  void add(const IdSet& other);
  bool empty() const { return !max_number_ && others_.size() == 0; }

 private:
  friend class IdMap;
  std::optional<std::uint64_t> max_number_;
  StringTable others_;  // in order of first appearance
};

class IdMap {
 public:
  // Numbers are given from `base` + 1 on.
  IdMap(const IdSet& ids, std::uint64_t base);

  // Of an id that was in the set.
  std::uint64_t number(std::string_view key) const;
  // The highest number given, which is the base for the next file.
  std::uint64_t end() const { return end_; }

 private:
  const IdSet* ids_;
  std::uint64_t base_;
  std::uint64_t others_base_;
  std::uint64_t end_;
};

// One spelling for one id: numbers as canonical_id() has them, text with its quotes, so that 31,
// "31" and "0x1f" stay three ids as viewers see them. A plain whole number is returned as it is,
// without a copy.
std::string_view id_key(std::string_view json_value, std::string& scratch);

}  // namespace traceloom
