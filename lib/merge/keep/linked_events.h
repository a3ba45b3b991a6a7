// LinkedEvents: the flow and async events of a file, and which of them stay by what becomes of
// those that they belong together with.
//
//   chunk.linked.add(event, start_ns, row, kept, ...);   // in parallel; kept: taken by itself
//   linked.append(chunk.linked);                         // in file order
//   linked.bind_flows(binder);
//   linked.settle();
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "merge/arrows/flow_binder.h"
#include "merge/plan/kept_events.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// One s t f, or b e S T p F. (An n stands alone.)
struct LinkedEvent {
  std::int64_t ns = 0;
  std::uint64_t offset = 0;
  std::uint64_t id = 0;     // a plain number, or one of LinkedEvents' with kOddId
  std::uint32_t label = 0;  // what an id is unique in: category and name, or scope
  std::uint32_t name = 0;   // of async events; kNoText when there is none
  std::uint32_t row = 0;
  char phase = 0;
  bool binds_next : 1 = false;
  bool excluded : 1 = false;  // by what it is called
  bool kept : 1 = false;
  bool is_cut : 1 = false;  // a step (t) that `phase` is made of
};

// Reuse it, it keeps some memory. Not thread-safe. Memory: 40 bytes an event, odd ids and labels.
class LinkedEvents {
 public:
  // `kept`: by its own time, name and category; `excluded`: the last two forbid it anyway.
  void add(const Event& event, std::int64_t ns, std::uint32_t row, bool kept, bool excluded,
           bool binds_next);
  // A later part of the file.
  void append(const LinkedEvents& later);
  void clear();

  // Flow events that are bound to a slice stay as it does, unless excluded.
  void bind_flows(const FlowBinder& binder);
  // Makes ends go by their beginnings, and arrows go that lose one of their ends: where a chain of
  // them loses a step (t), those on either side become an end (f) and a start (s) of their own.
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

}  // namespace traceloom
