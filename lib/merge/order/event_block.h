// EventBlock: some events as they will be written, and what has to be known to put them in order.
//
//   block.place({.start_ns = start_ns, .group = track, .order = OrderClass::begin},
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

// What goes first of what happens at the same time. Both viewers nest by it: what ends, before what
// begins; slices, before what lies on them.
enum class OrderClass : std::uint8_t { end, slice, begin, counter, other, flow };

struct PlacedEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // of slices
  std::uint64_t source_at = 0;   // in its file, of what became it; of a B and E: of the B
  std::uint64_t begin = 0;       // in EventBlock::text, of the ",\n" before the event
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // the track, or what tells one counter from another
  OrderClass order = OrderClass::other;
};

// What put_in_order() has to know of a block's events.
struct BlockIndex {
  SliceIndex slices;
  std::int64_t first_slice_ns = 0;  // the earliest start, of no slices later than the latest
  std::int64_t last_slice_ns = 0;
  bool has_others = false;  // events that are ordered by their time

  // Of nothing, with room for so many.
  void reset(std::size_t events) {
    slices.reset(events);
    first_slice_ns = std::numeric_limits<std::int64_t>::max();
    last_slice_ns = std::numeric_limits<std::int64_t>::min();
    has_others = false;
  }
};

struct EventBlock {
  TextBuffer text;                  // events, each behind ",\n"
  std::vector<PlacedEvent> events;  // in the order of the text; those whose order matters
  BlockIndex index;
  CompressedBlock compressed;  // text, when that is asked for

  // `append` appends the event to text. The place and size of `event` are found out.
  template <class Append>
  void place(const PlacedEvent& event, const Append& append) {
    const std::size_t begin = text.size();
    append();
    // Member by member: who has just stored these waits when they are loaded two at a time.
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
