// Trains one rank of the demo and records it.
#pragma once

#include "node_merge/node_merger.h"
#include "record/recorder.h"
#include "trace_record/demo_team.h"
#include "trace_record/trace_options.h"

#include <cstdint>

namespace traceloom {

// Returns how many gradients the model has, which is how many floats the ranks share.
std::size_t demo_gradient_count();

// Returns the options that decide where the rank writes, without its handlers.
record::Options demo_session_options(const DemoOptions& options, std::int64_t rank);
NodeMergeOptions demo_merge_options(const DemoOptions& options);

// Trains the rank; each rank calls this in a process of its own. Rank 0 prints how the loss falls.
// Returns false, after reporting it, if something that was recorded could not be saved or merged.
bool train_demo_rank(const DemoOptions& options, std::int64_t rank, DemoTeam& team);

}  // namespace traceloom
