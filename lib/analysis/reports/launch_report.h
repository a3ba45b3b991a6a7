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

// The table "rows" is by stream, and "calls" by the name of the call; "ops" is by the launching
// operator, those with the most short launches first.
//
// "work" counts all pieces, "launches" those whose call was recorded. "queues" has the length of
// the queue after each launch and each begin of work, and shares of time.
Report launch_report(const Run& run, const LaunchOptions& options);

}  // namespace traceloom
