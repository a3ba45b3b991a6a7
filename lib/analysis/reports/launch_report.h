// `trace-stats launch`: shows whether the host launches work fast enough, and which calls launch
// too little work at a time.
#pragma once

#include "analysis/report.h"

#include <cstddef>

namespace traceloom {

struct LaunchOptions {
  std::size_t op_rows = 20;  // number of rows of "ops"
};

// HTA's limits for slow calls and late work.
inline constexpr std::int64_t kSlowCallNs = 50'000;
inline constexpr std::int64_t kLateWorkNs = 100'000;
// The number of launches that fit into the queue of a CUDA stream.
inline constexpr std::int64_t kFullQueue = 1024;

// JSON: "rows": [{"rank","device","stream","work","launches","delay_mean_ns","delay_p50_ns",
// "delay_p90_ns","delay_p99_ns","delay_max_ns","late_share","short_share"}], a row a stream;
// "queues": [{"rank","device","stream","queue_mean","queue_p50","queue_p90","queue_p99",
// "queue_max","empty_share","full_ns"}]; "calls": [{"call","launches","work","call_ns",
// "call_p50_ns","call_p99_ns","slow_calls","device_ns","delay_ns","delay_max_ns","late","short"}],
// by the name of the call; "ops": [{"op","launches","short","short_share","call_ns","device_ns"}],
// by the launching operator, those with the most short launches first.
//
// "work" counts all pieces, "launches" those whose call was recorded. "queues" has the length of
// the queue after each launch and each begin of work, and shares of time.
Report launch_report(const Run& run, const LaunchOptions& options);

}  // namespace traceloom
