// AsyncSlices: what a merge does to the async events of a file beside their ids, so that viewers
// draw each as long as it was.
//
//   batch.add(async_id_key(event, scratch), event, start_ns);   // in parallel, of each chunk
//   finder.take(batch);                                         // in file order
//   const AsyncSlices slices = finder.finish();
//   if (const AsyncAdditions* additions = slices.find(event.offset)) write(*additions);
//
// Why: viewers join the events of an old operation (S, T, p, F) by name, scope and id, whatever
// their categories are, and those of a new one (b, n, e), which a merge makes of it, by category,
// scope and id. So a step and an end get the category of their begin, in the order of time. (Where
// operations of several categories overlap under one name, scope and id, which belongs to which
// their own say best.) A step of an old operation is to chrome://tracing a slice inside of that of
// the operation: a T lasts until the next event of the operation, a p since the one before. So it
// becomes a b or an e, and the event at its other end brings the other half. And what is begun and
// never ended would last to the end of the whole merge, or be drawn of no length: it gets an end
// where the slice of its id around it ends, or else its file.
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "scan/begin_end.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace traceloom {

// The other half of a slice. Viewers join it to its first half by category, too, so it has that of
// the event that is the first half. Both are numbers for AsyncSlices::text().
struct AsyncHalf {
  std::uint32_t name = kNoText;
  std::uint32_t category = kNoText;  // kNoText: that of the event which it stands beside
  bool operator==(const AsyncHalf&) const = default;
};

// To one event. Names and categories are numbers for AsyncSlices::text(), kNoText for none.
struct AsyncAdditions {
  std::uint64_t offset = 0;          // of the event
  std::uint32_t category = kNoText;  // which it gets
  std::uint32_t step = kNoText;      // it is a step (T, p) that becomes a slice of this name
  AsyncHalf begun = {};              // the step (p) that lasts from here on; no name for none
  std::vector<AsyncHalf> ended;      // what lasts until here: a step (T), or what nothing ends
  bool is_unended = false;           // nothing ends what it begins, before its file ends
  bool operator==(const AsyncAdditions&) const = default;
};

// Of a file. Memory: the steps, what is never ended, and events of old operations with other
// categories than their begins.
class AsyncSlices {
 public:
  // nullptr for an event that nothing is added to.
  const AsyncAdditions* find(std::uint64_t offset) const;
  // JSON text.
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  bool empty() const { return additions_.empty(); }
  bool operator==(const AsyncSlices&) const = default;

 private:
  friend class AsyncSliceFinder;
  std::vector<AsyncAdditions> additions_;  // by offset
  std::vector<std::string> texts_;
};

// The async events of a chunk.
class AsyncBatch {
 public:
  // Of an async event with that async_id_key(); an n is none of them.
  void add(std::string_view key, const Event& event, std::int64_t start_ns);
  bool empty() const { return records_.empty(); }

 private:
  friend class AsyncSliceFinder;
  struct Record {
    std::int64_t start_ns;
    std::uint64_t offset;
    std::uint64_t operation;  // a hash of what viewers join events by
    std::uint32_t category;   // of an old event
    std::uint32_t name;       // of a new event, and of a step
    char phase;
  };
  std::vector<Record> records_;
  StringTable texts_;  // strict JSON
  std::string scratch_;
  std::string args_scratch_;
};

// Of one file. Not thread-safe. Memory: the operations that are open, events that wait to be put in
// the order of their time, and what finish() returns.
class AsyncSliceFinder {
 public:
  // How many events may stand out of time order in the file.
  static constexpr std::size_t kReorderRecords = std::size_t{1} << 16;

  void take(const AsyncBatch& later);
  AsyncSlices finish();

 private:
  using Record = AsyncBatch::Record;
  struct Open {
    std::uint64_t offset;
    std::int64_t start_ns;
    std::uint32_t category;
    std::uint32_t name;
    std::uint64_t around_end = kNone;  // the end of the first slice around it that is ended
  };
  struct Operation {
    std::vector<Open> open;
    std::size_t mixed = 0;  // how many of them have another category than the one before
    // Of ends that no begin stood before, by name: it may have come too late to be sorted.
    std::multiset<std::pair<std::uint32_t, std::int64_t>> stray_ends;
    std::uint64_t last = 0;  // its latest event
    AsyncHalf step = {};     // the last of its steps (T) that nothing ends yet; no name for none
    std::uint64_t step_offset = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  // An end is looked for among so many open begins of its id.
  static constexpr std::size_t kMostNested = 1024;

  void release(std::size_t count);
  void add(const Record& record);
  void begin(const Record& record);
  void end(const Record& record);
  static bool close(const Record& record, Operation& operation);
  std::uint32_t set_category(const Record& record, const Operation& operation);
  void add_step(const Record& record, Operation& operation);
  void end_step(const Record& record, Operation& operation);
  void settle(Operation& operation);
  AsyncAdditions& additions_to(std::uint64_t offset);

  std::vector<Record> waiting_;
  std::unordered_map<std::uint64_t, Operation> operations_;  // that are open, or have stray ends
  std::unordered_map<std::uint64_t, AsyncAdditions> additions_;  // by offset
  StringTable texts_;
};

}  // namespace traceloom
