// OperationCategories: the categories of old async operations (S, T, p, F).
//
//   batch.add(async_id_key(event, scratch), event);        // in parallel, of each chunk
//   finder.take(batch);                                    // in file order
//   OperationCategories categories = finder.finish();
//   categories.find(async_id_key(event, scratch), event.offset)   // what T, p and F are to have
//
// Why: viewers join the events of an old operation by name, scope and id, whatever their categories
// are, and those of a new one (b, n, e), which a merge makes of it, by category, scope and id. So a
// step and an end get the category of the beginning that stands before them. Without one they keep
// their own. So do all events of operations that overlap under one name, scope and id and have
// different categories: which belongs to which, their own categories say best.
#pragma once

#include "base/string_table.h"
#include "event/event.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Of a file. Memory: the operations that have events of different categories.
class OperationCategories {
 public:
  // JSON text; empty when the event at `offset`, of the operation with that async_id_key(), keeps
  // what it has.
  std::string_view find(std::string_view key, std::uint64_t offset) const;
  bool empty() const { return begins_.empty(); }
  bool operator==(const OperationCategories&) const = default;

 private:
  friend class OperationCategoryFinder;
  // From this offset on the operations of a key have this category.
  struct Begin {
    std::uint64_t offset = 0;
    std::string category;
    bool operator==(const Begin&) const = default;
  };
  std::map<std::string, std::vector<Begin>, std::less<>> begins_;  // ascending by offset
};

// The events of a chunk.
class OperationBatch {
 public:
  // Of a legacy async event with an id.
  void add(std::string_view key, const Event& event);
  bool empty() const { return records_.empty(); }

 private:
  friend class OperationCategoryFinder;
  struct Record {
    std::uint64_t offset;
    std::uint32_t key;
    std::uint32_t category;
    char phase;
  };
  StringTable keys_;
  StringTable categories_;  // as they are written: strict JSON
  std::vector<Record> records_;
  std::string scratch_;
};

// Of one file. Not thread-safe. Memory: the keys and categories of its operations.
class OperationCategoryFinder {
 public:
  void take(const OperationBatch& later);
  OperationCategories finish() const;

 private:
  struct Begin {
    std::uint64_t offset;
    std::uint32_t category;
  };
  struct Operation {
    std::vector<Begin> begins;  // each of another category than the one before it
    std::uint32_t open = 0;
    bool is_torn = false;   // some step or end has another category than its beginning
    bool overlaps = false;  // and the categories of what overlaps differ
  };
  static void add(Operation& operation, std::uint64_t offset, char phase, std::uint32_t category);

  StringTable keys_;
  StringTable categories_;
  std::vector<Operation> operations_;  // by the number of their key
};

}  // namespace traceloom
