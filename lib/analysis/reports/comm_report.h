// `trace-stats comm`: shows how fast collectives are, and which ranks come late to them.
#pragma once

#include "analysis/report.h"

namespace traceloom {

struct CommOptions {
  bool each = false;  // add a table with one row for each matched collective
};

// JSON: "rows": [{"collective","dtype","bytes","group","group_description","group_ranks","ranks",
// "count","latency_ns","latency_p50_ns","latency_p99_ns","wait_ns","skew_in_ns","skew_out_ns",
// "algo_gbps","bus_gbps","algo_gibps","bus_gibps"}]; "ranks": [{"rank","collectives","total_ns",
// "total_wait_ns","mean_wait_ns","times_last","times_first","last_share"}]; "times":
// [{"rank","count", "bytes","busy_ns","transfer_ns","waiting_ns","collective"}], see
// collectives.h; with each also "collectives": [{"index", and the keys of one collective}].
//
// Values of a row are means over its collectives, waits are means over their parts; they are null
// if only one rank has the collective. For sends and receives, latency and bandwidths describe the
// transfer; there are no bandwidths if the other end is not known.
Report comm_report(const Run& run, const CommOptions& options);

}  // namespace traceloom
