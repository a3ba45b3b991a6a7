// `trace-stats comm`: how fast collectives are, and who comes late to them.
#pragma once

#include "analysis/report.h"

namespace traceloom {

struct CommOptions {
  bool each = false;  // a table of all matched collectives, one by one
};

// JSON: "rows":
// [{"collective","dtype","bytes","group","group_description","group_ranks","ranks","count","latency_ns","latency_p50_ns",
// "latency_p99_ns","wait_ns","skew_in_ns","skew_out_ns","algo_gbps","bus_gbps","algo_gibps",
// "bus_gibps"}]: means over the collectives of a row, wait over their parts; null where one rank
// alone has it. Of sends and receives latency and bandwidths are of the transfer, and no bandwidths
// where the other end is not known. "ranks":
// [{"rank","collectives","total_ns","total_wait_ns","mean_wait_ns",
// "times_last","times_first","last_share"}]; "times": [{"rank","count","bytes","busy_ns",
// "transfer_ns","waiting_ns","collective"}], see comm_times.h; with each "collectives":
// [{"index", ... of one}].
Report comm_report(const Run& run, const CommOptions& options);

}  // namespace traceloom
