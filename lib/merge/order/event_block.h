// EventBlock: some events as they will be written, and what is needed to put them in order.
//
//   block.place({.start_ns = start_ns, .group = track, .order = OrderClass::slice},
//               [&] { edit.append_to(block.text); });
#pragma once

#include "base/text_buffer.h"
#include "merge/order/slice_index.h"
#include "output/gzip_sink.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace traceloom {

// The order of events that happen at the same time. Both viewers bind events to slices by it:
// slices stand before the events that lie on them.
enum class OrderClass : std::uint8_t { slice, counter, other, flow };

struct PlacedEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // for slices
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
  TextBuffer text;                  // events, each after ",\n"
  std::vector<PlacedEvent> events;  // those whose order matters, in the order of the text
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
  }
  void append(const EventBlock& other) {
    for (PlacedEvent event : other.events) {
      event.begin += text.size();
      events.push_back(event);
    }
    text += other.text;
  }
  void clear() {
    text.clear();
    events.clear();
    compressed = {};
  }
};

}  // namespace traceloom
