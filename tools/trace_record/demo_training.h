// The training of one rank of the demo, recorded.
#pragma once

#include "node_merge/node_merger.h"
#include "record/recorder.h"
#include "trace_record/demo_options.h"
#include "trace_record/demo_team.h"

#include <cstdint>

namespace traceloom {

// How many floats the ranks have to share for the gradients of the demo's model.
std::size_t demo_gradient_count();

// Where the rank writes what, without what it does meanwhile.
record::Options demo_session_options(const DemoOptions& options, std::int64_t rank);
NodeMergeOptions demo_merge_options(const DemoOptions& options);

// In a process of its own. Rank 0 prints how the loss falls. False when something that was recorded
// is not saved, or not merged, as it should be; it has been told then.
bool train_demo_rank(const DemoOptions& options, std::int64_t rank, DemoTeam& team);

}  // namespace traceloom
