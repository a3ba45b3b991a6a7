// FlowBinder: which slice a flow event (s, t, f) belongs to, and whether that one stays.
//
//   FlowBinder binder(places);                          // where flow events of a file stand
//   if (binder.touches(slice)) binder.add(slice);
//   binder.finish();
//   binder.kept_at(place)                               // true, false, or nullopt: no slice
//
// The rule of the viewers: it is bound to the innermost slice of its row around its time, both ends
// of the slice belonging to it: to the one that began last, of several the shortest. An f without
// "bp": "e" is bound to the next slice that begins on its row, at the same time or later: of
// several the longest. Of slices that begin and end together one that stays is enough. So the order
// of the file does not matter.
#pragma once

#include "event/event.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// Where one or more flow events stand.
struct FlowPlace {
  std::int64_t ns = 0;
  std::uint32_t row = 0;
  bool binds_next = false;  // to the next slice, not to the one around

  bool operator==(const FlowPlace&) const = default;
};

// Whether a flow event is bound to the next slice.
bool binds_to_next_slice(const Event& event);

struct FlowSlice {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t row = 0;
  bool kept = false;
};

// Of one file. Memory: 16 bytes a place, and 48 more from the first add() to finish(). A slice
// costs the logarithm of the number of places, however many of them it is around.
class FlowBinder {
 public:
  FlowBinder() = default;
  explicit FlowBinder(std::vector<FlowPlace> places);

  // False when the slice is not worth to be added. Thread-safe, also beside add().
  bool touches(const FlowSlice& slice) const;
  void add(const FlowSlice& slice);
  // No more slices.
  void finish();
  // Of a place that the binder was made of.
  std::optional<bool> kept_at(const FlowPlace& place) const;

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range around(const FlowSlice& slice) const;
  std::optional<std::size_t> last_waiting(const FlowSlice& slice) const;

  std::vector<FlowPlace> places_;   // that bind to the slice around, sorted
  std::vector<FlowPlace> waiting_;  // that bind to the next one, sorted
  // A tree over places_, leaves last: the innermost slice around all places below a node. No slice
  // has row kNoRow.
  std::vector<FlowSlice> innermost_;
  std::vector<FlowSlice> next_;       // of waiting_
  std::vector<signed char> answers_;  // of places_, then of waiting_: 1, 0, or -1 for no slice
};

}  // namespace traceloom
