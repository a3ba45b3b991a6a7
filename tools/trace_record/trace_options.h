// The options that the commands of trace-record share: the place of the trace, and the sampling.
#pragma once

#include "record/names/trace_folder.h"

#include <cstdint>
#include <string>

namespace CLI {
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

}  // namespace traceloom
