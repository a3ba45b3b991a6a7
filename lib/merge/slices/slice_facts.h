// The facts about the slices of a file that a merge needs before it writes them: those that a save
// has cut (CutSlices), and changes of async ones (AsyncSlices).
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "scan/begin_end.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace traceloom {

// CutSlices: slices of our recorder that a save has cut, and the whole slices that supersede them.
//
//   survey.cut_slices.add(event);                     // any event with Key::cut_id
//   plan_cut_slices(surveys, plan);
//   plan.files[file].is_superseded(event, target);    // another file has the whole slice
//
// Why: a slice that lasts longer than a cycle is in that cycle's file up to the end of the cycle,
// and in the file of a later cycle as a whole. Both are one slice.

// The slices of one file; they are few.
struct CutSlices {
  struct Slice {
    std::string pid;  // JSON text
    std::string tid;
    std::string id;
  };
  std::vector<Slice> cut;    // is_cut_slice() is true
  std::vector<Slice> whole;  // is_cut_slice() is false

  // `event` has Key::cut_id.
  void add(const Event& event);
  void append(CutSlices later);
};

// Slices by rank and the value of Key::cut_id. The thread does not matter: a slice may end in
// another thread than it began in.
using SupersededSlices = std::set<std::pair<std::int64_t, std::string>>;

// AsyncSlices: what a merge changes in the async events of a file besides their ids, so that
// viewers draw each operation as long as it was.
//
//   batch.add(async_id_key(event, scratch), event, start_ns);   // in parallel, for each chunk
//   finder.take(batch);                                         // in file order
//   const AsyncSlices slices = finder.finish();
//   if (const AsyncAdditions* additions = slices.find(event.offset)) write(*additions);
//
// There are three reasons for a change:
//
// 1. Categories. Viewers join the events of an old operation (S, T, p, F) by name, scope and id and
//    ignore their categories. A merge makes new events (b, n, e) of them, which viewers join by
//    category, scope and id. So a step and an end get the category of their begin, in the order of
//    time. (Where operations of several categories overlap under one name, scope and id, each event
//    keeps its category, which says best where it belongs.)
// 2. Steps. chrome://tracing shows a step of an old operation as a slice inside the slice of the
//    operation: a T lasts until the next event of the operation, a p since the event before it. So
//    a step becomes a b or an e, and the event at its other end brings the other half.
// 3. Missing ends. An operation that never ends would last to the end of the whole merge, or be
//    drawn without length. It gets an end where the slice of its id around it ends, or else where
//    its file ends.

// The other half of a slice, which is written next to an event of the file. Viewers join it to its
// first half by category, too, so it has the category of the event that is the first half. Both
// members are numbers for AsyncSlices::text().
struct AsyncHalf {
  std::uint32_t name = kNoText;
  std::uint32_t category = kNoText;  // kNoText: that of the event next to it
  bool operator==(const AsyncHalf&) const = default;
};

// The additions to one event. Names and categories are numbers for AsyncSlices::text(), or
// kNoText for none.
struct AsyncAdditions {
  std::uint64_t offset = 0;          // place of the event, in bytes
  std::uint32_t category = kNoText;  // the category it gets
  std::uint32_t step = kNoText;      // the name of the slice that this step (T, p) becomes
  AsyncHalf begun = {};              // the later step (p) that begins here; no name for none
  // Slices that end here: a step (T), or operations that have no end.
  std::vector<AsyncHalf> ended;
  bool is_unended = false;  // the slice begun here has no end in its file

  bool operator==(const AsyncAdditions&) const = default;
};

// The additions to the events of one file. Memory: the steps, the operations that never end, and
// the events of old operations whose category differs from that of their begin.
class AsyncSlices {
 public:
  // Returns nullptr for an event that gets no additions.
  const AsyncAdditions* find(std::uint64_t offset) const;
  // Returns the JSON text of a name or category.
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  bool empty() const { return additions_.empty(); }
  bool operator==(const AsyncSlices&) const = default;
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(additions_, texts_); }

 private:
  friend class AsyncSliceFinder;
  std::vector<AsyncAdditions> additions_;  // sorted by offset
  std::vector<std::string> texts_;
};

// The async events of a chunk.
class AsyncBatch {
 public:
  // Adds an async event whose async_id_key() is `key`. Ignores instants (n) and events whose name
  // is no string.
  void add(std::string_view key, const Event& event, std::int64_t start_ns);
  bool empty() const { return records_.empty(); }

 private:
  friend class AsyncSliceFinder;
  struct Record {
    std::int64_t start_ns;
    std::uint64_t offset;
    std::uint64_t operation;  // a hash of what viewers join events by
    std::uint32_t category;   // for an old event
    std::uint32_t name;       // for a new event, or a step
    char phase;
  };
  std::vector<Record> records_;
  StringTable texts_;  // strict JSON
  std::string scratch_;
  std::string args_scratch_;
};

// Finds the additions to the events of one file. Not thread-safe. Memory: the operations that are
// open, the events that wait to be sorted by time, and what finish() returns.
class AsyncSliceFinder {
 public:
  // The number of events that wait to be sorted: an event may stand this far out of time order.
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
    std::uint64_t around_end = kNone;  // the offset of the first end of a slice around it
  };
  struct Operation {
    std::vector<Open> open;
    std::size_t mixed = 0;  // number that differ in category from the one before
    // Ends that no begin stood before, by name: the begin may have come too late to be sorted.
    std::multiset<std::pair<std::uint32_t, std::int64_t>> stray_ends;
    std::uint64_t last = 0;  // the offset of its latest event
    AsyncHalf step = {};     // its last step (T) while that has no end; no name for none
    std::uint64_t step_offset = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  // The number of open begins of its id, innermost first, that an end searches for its own.
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
  std::unordered_map<std::uint64_t, Operation> operations_;  // open ones, and those with stray ends
  std::unordered_map<std::uint64_t, AsyncAdditions> additions_;  // key: offset
  StringTable texts_;
};

}  // namespace traceloom
