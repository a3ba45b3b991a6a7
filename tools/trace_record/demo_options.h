// What `trace-record demo` is asked for.
#pragma once

#include "record/names/schedule.h"
#include "trace_record/trace_options.h"

#include <cstdint>
#include <string>

namespace traceloom {

struct DemoOptions {
  TraceOptions trace{.folder = "demo-traces", .file_name = std::string(record::kDefaultFileName)};
  std::int64_t ranks = 4;
  std::int64_t epochs = 2;
  std::int64_t batches = 20;      // of each rank, an epoch
  std::int64_t batch_size = 128;  // pictures of each rank
  std::int64_t seed = 1;
  std::int64_t slow_loader_ns = 0;               // for each batch, as of a slow disk
  std::int64_t straggler = -1;                   // a rank; -1: none
  std::int64_t straggler_delay_ns = 50'000'000;  // that each of its steps takes longer
  // The clock of rank R is off by R times this, and runs by R times so many millionths too fast.
  std::int64_t clock_skew_ns = 0;
  std::int64_t clock_drift_ppm = 0;
  std::int64_t started_ns = 0;  // Unix time, when the clocks of all ranks drift off
  record::CyclicSchedule schedule{.warmup = 0, .active = 1'000'000, .repeat = 0};
  std::int64_t keep = -1;
  bool merges = false;            // all ranks into one trace, while they train
  std::string merge_folder = {};  // for that; "": that of the traces
  std::string merged_name = std::string(record::kDefaultMergedName);
  bool memory_stats = false;
};

}  // namespace traceloom
