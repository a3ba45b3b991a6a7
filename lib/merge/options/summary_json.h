// Parts of a MergeSummary as JSON, in the merged trace and in reports.
#pragma once

#include "merge/options/merge_options.h"
#include "output/json_writer.h"

#include <vector>

namespace traceloom {

// The key "collectives", where a clock has such: {"shift_ns", "residual_p50_ns", "residual_p95_ns",
// "bound_ns"}, as in CollectiveEstimate.
void write_estimate(JsonWriter& json, const ClockSummary& clock);

// [{"path", "error"}]
void write_left_out(JsonWriter& json, const std::vector<LeftOut>& left_out);

}  // namespace traceloom
