// find_row_times: splits the time of some steps of a rank into rows.
//
//   for (const CaptureRow& row : find_row_times(run, rank, operators, windows)) use(row.key);
#pragma once

#include "comparison/captures/capture.h"
#include "run/intervals.h"
#include "run/operators.h"

#include <vector>

namespace traceloom {

// `windows` are the times of the steps: ascending, and they do not overlap. Returns rows ascending
// by key, whose exclusive times add up to the length of the windows.
std::vector<CaptureRow> find_row_times(const Run& run, const RankEvents& rank,
                                       const Operators& operators, const Intervals& windows);

// Returns the role of each kernel and the operator that launched it, as in the rows.
RowKey kernel_key(const Run& run, const Operators& operators, Role role, const DeviceSpan& span);

}  // namespace traceloom
