// Blocks of edited events, and the order within them that viewers need.
#pragma once

#include "base/string_table.h"
#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

// SliceIndex: finds slices by their track and start.
//
//   index.reset(events.size());
//   const auto is_same = [&](std::uint32_t i) { return is_it(events[i]); };
//   std::uint32_t& last = index.at(track, start_ns, is_same);

// A hash table of the numbers of slices; the slices themselves belong to the caller. It takes a few
// nanoseconds a slice, half as long as sorting them would.
class SliceIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Empties the index and makes room for so many slices.
  void reset(std::size_t slices) {
    std::size_t size = 16;
    while (size < 2 * slices) size *= 2;
    places_.assign(size, kNone);
  }
  // Returns the number kept for this track and start, or kNone if there is none. The caller then
  // sets it, at most as often as reset() has made room for. `is_same(number)` returns whether that
  // slice has both.
  template <class IsSame>
  std::uint32_t& at(std::uint32_t track, std::int64_t start_ns, const IsSame& is_same) {
    return places_[find(track, start_ns, is_same)];
  }
  template <class IsSame>
  std::uint32_t number(std::uint32_t track, std::int64_t start_ns, const IsSame& is_same) const {
    return places_.empty() ? kNone : places_[find(track, start_ns, is_same)];
  }

 private:
  template <class IsSame>
  std::size_t find(std::uint32_t track, std::int64_t start_ns, const IsSame& is_same) const {
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(start_ns) ^ std::uint64_t{track} << 40) * 0x9E3779B97F4A7C15;
    std::size_t place = static_cast<std::size_t>(mixed >> 32) & (places_.size() - 1);
    while (places_[place] != kNone && !is_same(places_[place]))
      place = (place + 1) & (places_.size() - 1);
    return place;
  }

  std::vector<std::uint32_t> places_;
};

// EventBlock: some events as they will be written, and what is needed to put them in order.
//
//   block.place({.start_ns = start_ns, .group = track, .order = OrderClass::slice},
//               [&] { edit.append_to(block.text); });

// The order of events that happen at the same time. Both viewers bind events to slices by it:
// slices stand before the events that lie on them. The end of an arrow that binds to the next slice
// (next_end) stands directly before that slice, or where flows stand if none begins at its time.
enum class OrderClass : std::uint8_t { slice, counter, other, flow, next_end };

// The length of a next_end until bind_next_ends() has found its slice.
inline constexpr std::int64_t kUnbound = -1;

struct PlacedEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // for slices; for a next_end that of its slice, or kUnbound
  std::uint64_t source_at = 0;   // offset in its file; for a joined B and E that of the B
  std::uint64_t begin = 0;       // offset in EventBlock::text of the ",\n" before the event
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // the track, or a number for the counter
  OrderClass order = OrderClass::other;
};

// An index of a block's events for put_in_order().
struct BlockIndex {
  SliceIndex slices;
  std::int64_t first_slice_ns = 0;  // the earliest start; later than the latest if there are none
  std::int64_t last_slice_ns = 0;
  bool has_others = false;  // there are events that are sorted by time

  // Empties the index and makes room for so many events.
  void reset(std::size_t events) {
    slices.reset(events);
    first_slice_ns = std::numeric_limits<std::int64_t>::max();
    last_slice_ns = std::numeric_limits<std::int64_t>::min();
    has_others = false;
  }
};

struct EventBlock {
  TextBuffer text;                     // events, each after ",\n"
  std::vector<PlacedEvent> events;     // those whose order matters, in the order of the text
  std::vector<std::uint32_t> unbound;  // the numbers of those that are kUnbound
  BlockIndex index;
  CompressedBlock compressed;  // the text, if compression is asked for

  // Calls `append`, which appends the event to the text, and notes where it stands. The place and
  // size in `event` are ignored.
  template <class Append>
  void place(const PlacedEvent& event, const Append& append) {
    const std::size_t begin = text.size();
    append();
    // Copies member by member: the caller has just stored these values, and loading two at a time
    // would wait for the stores.
    PlacedEvent& placed = events.emplace_back();
    placed.start_ns = event.start_ns;
    placed.duration_ns = event.duration_ns;
    placed.source_at = event.source_at;
    placed.begin = begin;
    placed.size = static_cast<std::uint32_t>(text.size() - begin);
    placed.group = event.group;
    placed.order = event.order;
    if (event.duration_ns == kUnbound)
      unbound.push_back(static_cast<std::uint32_t>(events.size() - 1));
  }
  void append(const EventBlock& other) {
    for (const std::uint32_t number : other.unbound)
      unbound.push_back(static_cast<std::uint32_t>(events.size() + number));
    for (PlacedEvent event : other.events) {
      event.begin += text.size();
      events.push_back(event);
    }
    text += other.text;
  }
  void clear() {
    text.clear();
    events.clear();
    unbound.clear();
    compressed = {};
  }
};

// Binds the unbound ends of `earlier` blocks to the slices of the `later` ones, which may be the
// same: an end gets the length of the first slice of its track that begins at its time and after it
// in the file. Sorted by length, and then by their place in the file, as slices are, it then stands
// directly before that slice. Returns the ends that were bound.
std::vector<PlacedEvent*> bind_next_ends(const std::vector<EventBlock*>& earlier,
                                         const std::vector<EventBlock*>& later);

// put_in_order(): sorts the events of a file where viewers need another order than the file has.
//
//   put_in_order(block);                       // within a block, in parallel
//   put_in_order({&before, &block});           // over their border
//
// Catapult nests slices of a track that start in the same nanosecond in the order of the file,
// takes the first and last sample of a counter for its bounds, and stops its import at an E that is
// earlier than the B before it. So slices with one start are sorted by their length, the longest
// first (equal ones by where they begin in their file, those without length stay as they were), and
// the samples of a counter, and the B and E events of a track, are sorted by their time. An end
// that binds to the next slice goes with its slice. Events that are out of order swap places; all
// others stay where they are.

// Sorts one block and makes EventBlock::index. Thread-safe for different blocks.
void put_in_order(EventBlock& block);

// Sorts across the borders of consecutive blocks, each of which is sorted. Returns true if the last
// block had to exchange events with the others; then the blocks have changed.
bool put_in_order(const std::vector<EventBlock*>& blocks);

}  // namespace traceloom
