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
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

// A place where one or more flow events stand.
struct FlowPlace {
  std::int64_t ns = 0;
  std::uint32_t row = 0;
  bool binds_next = false;  // to the next slice, not to the one around

  bool operator==(const FlowPlace&) const = default;
};

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

}  // namespace traceloom
