// The order that viewers need within a file, where its own is another.
//
//   put_in_order(block);                       // within a block, in parallel
//   put_in_order({&before, &block});           // over their border
//
// Catapult nests slices of a track that start in the same nanosecond in the order of the file,
// takes the first and last sample of a counter for its bounds, and stops its import at an E that is
// earlier than the B before it. So slices of one start stand by their length, the longest first
// (equal ones by where they begin in their file, those of no length as they were), and the samples
// of a counter, and B and E events of a track, by their time. What is out of order swaps places;
// all else stays where it is.
#pragma once

#include "merge/order/event_block.h"

#include <vector>

namespace traceloom {

// Also makes EventBlock::index. Thread-safe for different blocks.
void put_in_order(EventBlock& block);

// Blocks that are in order each, in the order of the file. True, and then both have changed, when
// the last one had to change places with some of the others.
bool put_in_order(const std::vector<EventBlock*>& blocks);

}  // namespace traceloom
