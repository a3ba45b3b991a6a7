// Options of trace-record that its commands share: where the trace goes, and what is sampled.
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

// `folder` and `file_name` as they are now are the defaults.
void add_trace_options(CLI::App& app, TraceOptions& options);

// Whole numbers from `least` on: "--ranks: '0' is not a whole number from 1 to 64". A `value`
// within that range is shown as the default.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t least, std::int64_t most, const std::string& help,
                        const std::string& group);

// What they mean for the run; throws UsageError for an interval that is too short.
record::TraceNames names_of(const TraceOptions& options);

}  // namespace traceloom
