// Events that belong together: which slice a flow event belongs to, which flow and async events
// stay with others, and which ends of arrows lack a start.
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "merge/plan/plan.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// FlowBinder: finds which slice a flow event (s, t, f) belongs to, and whether that slice stays.
//
//   FlowBinder binder(places);                          // where flow events of a file stand
//   if (binder.touches(slice)) binder.add(slice);
//   binder.finish();
//   binder.kept_at(place)                               // true, false, or nullopt: no slice
//
// The rule of the viewers: a flow event is bound to the innermost slice of its row around its time,
// where both ends of a slice belong to it. The innermost one is the one that began last, and of
// several the shortest. An f without "bp": "e" is bound to the next slice that begins on its row,
// at the same time or later, and of several to the longest. If slices begin and end together, it is
// enough that one of them stays. So the order of the file does not matter.

struct FlowSlice {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t row = 0;
  bool kept = false;
};

// The binder of one file. Memory: 16 bytes a place, and 48 more from the first add() to finish(). A
// slice costs the logarithm of the number of places, however many of them it encloses.
class FlowBinder {
 public:
  FlowBinder() = default;
  explicit FlowBinder(std::vector<FlowPlace> places);

  // Returns false if the slice need not be added. Thread-safe, also while another thread is in
  // add().
  bool touches(const FlowSlice& slice) const;
  void add(const FlowSlice& slice);
  // Must be called after the last slice.
  void finish();
  // Returns whether the slice of a place stays. The binder must have been made with that place.
  std::optional<bool> kept_at(const FlowPlace& place) const;

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range around(const FlowSlice& slice) const;
  std::optional<std::size_t> last_waiting(const FlowSlice& slice) const;

  std::vector<FlowPlace> places_;   // bind to the slice around, sorted
  std::vector<FlowPlace> waiting_;  // bind to the next slice, sorted
  // A tree over places_, leaves last: each node holds the innermost slice around all places below
  // it, or a slice of row kNoRow for none.
  std::vector<FlowSlice> innermost_;
  std::vector<FlowSlice> next_;       // one for each of waiting_
  std::vector<signed char> answers_;  // for places_, then for waiting_: 1, 0, or -1 for no slice
};

// LinkedEvents: the flow and async events of a file. Whether such an event stays depends on the
// events that it belongs together with.
//
//   chunk.linked.add(event, start_ns, row, kept, ...);   // in parallel; kept: judged by itself
//   linked.append(chunk.linked);                         // in file order
//   linked.bind_flows(binder);
//   linked.settle();

// A flow event (s t f) or an async event (b e S T p F). An n stands alone.
struct LinkedEvent {
  std::int64_t ns = 0;
  std::uint64_t offset = 0;
  std::uint64_t id = 0;     // a plain number, or kOddId with a number of LinkedEvents
  std::uint32_t label = 0;  // the scope of the id: category and name, or `scope`
  std::uint32_t name = 0;   // for async events; kNoText if there is none
  std::uint32_t row = 0;
  char phase = 0;
  bool binds_next : 1 = false;
  bool excluded : 1 = false;  // its name or category is excluded
  bool kept : 1 = false;
  bool is_cut : 1 = false;  // `phase` was made of a step (t)
};

// Reuse an object: it keeps some memory. Not thread-safe. Memory: 40 bytes an event, odd ids and
// labels.
class LinkedEvents {
 public:
  // `kept`: the event stays by its own time, name and category. `excluded`: its name or category
  // forbids it anyway.
  void add(const Event& event, std::int64_t ns, std::uint32_t row, bool kept, bool excluded,
           bool binds_next);
  // Appends a later part of the file.
  void append(const LinkedEvents& later);
  void clear();

  // Flow events that are bound to a slice stay or go with it, unless they are excluded.
  void bind_flows(const FlowBinder& binder);
  // Lets ends stay or go with their begins, and drops arrows that lose one of their ends. If a
  // chain of arrows loses a step (t), the events on either side become an end (f) and a start (s).
  void settle();
  const std::vector<LinkedEvent>& events() const { return events_; }

 private:
  std::uint32_t text(std::string_view first, std::string_view second, char kind);
  std::uint64_t id(std::string_view key);

  std::vector<LinkedEvent> events_;
  StringTable texts_;
  StringTable odd_ids_;
  std::string scratch_;
  std::string id_scratch_;
};

// find_startless_ends(): finds the ends of arrows (f) that wait for the next slice of their thread
// and have no start.
//
// Why: when that slice begins, Perfetto draws an arrow to it from the start of the flow, or if
// there is no start, from the first slice of the whole trace, which belongs to another rank. If the
// end is bound to the slice around it ("bp": "e"), Perfetto draws nothing, as catapult does in both
// cases.
//
// A start (an s; to Perfetto a step, t, is none) counts from its time on, and only if its thread
// has already had a slice that it can be bound to.

// `scan` reads the files that have such ends (FileSurvey::next_ends) with the visitor. They are
// few: torch binds all of its ends to the slice around. Returns the ends in each file of the plan:
// offsets, ascending. Arrows of PlanOptions::shared_flows may start in another file, so their ends
// are left alone. Memory: 24 bytes a flow event of the file that is being read.
std::vector<std::vector<std::uint64_t>> find_startless_ends(
    const MergePlan& plan, const std::function<void(FileVisitor&)>& scan);

}  // namespace traceloom
