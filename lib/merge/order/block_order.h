// put_in_order(): sorts the events of a file where viewers need another order than the file has.
//
//   put_in_order(block);                       // within a block, in parallel
//   put_in_order({&before, &block});           // over their border
//
// Catapult nests slices of a track that start in the same nanosecond in the order of the file,
// takes the first and last sample of a counter for its bounds, and stops its import at an E that is
// earlier than the B before it. So slices with one start are sorted by their length, the longest
// first (equal ones by where they begin in their file, those without length stay as they were), and
// the samples of a counter, and the B and E events of a track, are sorted by their time. Events
// that are out of order swap places; all others stay where they are.
#pragma once

#include "merge/order/event_block.h"

#include <vector>

namespace traceloom {

// Sorts one block and makes EventBlock::index. Thread-safe for different blocks.
void put_in_order(EventBlock& block);

// Sorts across the borders of consecutive blocks, each of which is sorted. Returns true if the last
// block had to exchange events with the others; then the blocks have changed.
bool put_in_order(const std::vector<EventBlock*>& blocks);

}  // namespace traceloom
