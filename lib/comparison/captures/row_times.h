// find_row_times: splits the time of some steps of a rank into rows.
//
//   const TransferTimes transfers(run);
//   const LaunchModules modules(run, rank, operators);
//   for (const CaptureRow& row : find_row_times({run, 0, operators, modules, transfers}, windows))
//     use(row.key);
#pragma once

#include "analysis/work/launch_modules.h"
#include "comparison/captures/capture.h"
#include "comparison/captures/transfer_times.h"
#include "run/intervals.h"
#include "run/operators.h"

#include <vector>

namespace traceloom {

// What is known of the rank whose time is split.
struct RowSources {
  const Run& run;
  std::size_t rank;  // index into Run::ranks
  const Operators& operators;
  const LaunchModules& modules;
  const TransferTimes& transfers;

  const RankEvents& events() const { return run.ranks[rank]; }
};

// `windows` are the times of the steps: ascending, and they do not overlap. Returns rows ascending
// by key, whose exclusive times add up to the length of the windows. A collective that was found on
// other ranks, too, has two rows: the wait for the last rank, and the transfer, which has its
// calls.
std::vector<CaptureRow> find_row_times(const RowSources& sources, const Intervals& windows);

// Returns the key of the row to which work of a device belongs, if it is no part of a collective.
RowKey device_key(const RowSources& sources, Role role, const DeviceSpan& span);

}  // namespace traceloom
