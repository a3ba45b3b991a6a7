// The two ends of messages, which are matched in one place.
//
//   append_messages(run, std::move(ends), std::move(batches), found);   // by match_collectives()
//
// Ends that name each other come matched. In groups with batches, kernels that send and receive at
// once and name no peer, all messages are matched here:
// - A batch sends to a neighbour in its group, the next or the previous stage of a pipeline, and
//   receives from the same one. A stage at an end of the pipeline has one neighbour. Another one
//   sends what it has just computed: the kernel launched before the batch says whether that goes to
//   the next or the previous stage, if sends whose peer is known follow such kernels.
// - On each link the n-th send is the n-th receive. If there are more of one than of the other, the
//   messages of the link stay without their other ends.
//
// Data move when both ends are there, and both leave when it has moved; so it takes the shorter of
// both times. A kernel of a batch also waits for its other message: the shortest time of the link
// counts. If senders leave before receivers come, on a common clock, messages are eager: the sender
// never waits, and for the receiver data move after the sender has begun.
#pragma once

#include "analysis/collectives/collectives.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace traceloom {

// One or both ends of a message.
using MatchedEnds = std::vector<std::pair<MessageEnds, std::vector<Collective>>>;

// True for a kernel that sends and receives and names no peer, in a group whose ranks are known.
bool is_batch(const Collective& what);

// Appends the messages to found.messages and their ends to found.single.
void append_messages(const Run& run, MatchedEnds messages, std::vector<Collective> batches,
                     MatchedCollectives& found);

}  // namespace traceloom
