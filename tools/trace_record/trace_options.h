// The options of trace-record: those that its commands share, and those of the demo.
#pragma once

#include "record/names/trace_folder.h"
#include "record/schedule.h"

#include <cstdint>
#include <string>

namespace CLI {
// The options that the commands of trace-record share: the place of the trace, and the sampling.

class App;
class Option;
}  // namespace CLI

namespace traceloom {

struct TraceOptions {
  std::string folder;
  std::string file_name;
  bool overwrite = false;
  std::int64_t interval_ns = 500'000'000;
};

inline constexpr char kTraceGroup[] = "Trace";

// The values in `options` are the defaults.
void add_trace_options(CLI::App& app, TraceOptions& options);

// Adds an option that takes whole numbers from `least` to `most`: "--ranks: '0' is not a whole
// number from 1 to 64". A `value` within that range is shown as the default.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t least, std::int64_t most, const std::string& help,
                        const std::string& group);

// Returns the names of the traces. Throws UsageError if the interval is too short.
record::TraceNames names_of(const TraceOptions& options);

// The options of `trace-record demo`.

struct DemoOptions {
  TraceOptions trace{.folder = "demo-traces", .file_name = std::string(record::kDefaultFileName)};
  std::int64_t ranks = 4;
  std::int64_t epochs = 2;
  std::int64_t batches = 20;      // for each rank in an epoch
  std::int64_t batch_size = 128;  // pictures for each rank
  std::int64_t seed = 1;
  std::int64_t slow_loader_ns = 0;               // added to each batch, like a slow disk
  std::int64_t straggler = -1;                   // the rank that is slow; -1 for none
  std::int64_t straggler_delay_ns = 50'000'000;  // added to each of its steps
  // The clock of rank R is ahead by R times clock_skew_ns, and R times clock_drift_ppm too fast.
  std::int64_t clock_skew_ns = 0;
  std::int64_t clock_drift_ppm = 0;
  std::int64_t started_ns = 0;  // the Unix time at which the clocks begin to drift
  record::CyclicSchedule schedule{.warmup = 0, .active = 1'000'000, .repeat = 0};
  std::int64_t keep = -1;
  bool merges = false;            // merge all ranks into one trace, while they train
  std::string merge_folder = {};  // the folder of that trace; "" for the one of the traces
  std::string merged_name = std::string(record::kDefaultMergedName);
  bool memory_stats = false;
};

}  // namespace traceloom
