#include "trace_record/trace_options.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace traceloom {
namespace {

constexpr std::int64_t kLeastInterval = 1'000'000;

}  // namespace

void add_trace_options(CLI::App& app, TraceOptions& options) {
  app.add_option("-o,--output", options.folder, "Write the trace into this folder")
      ->type_name("DIR")
      ->capture_default_str()
      ->group(kTraceGroup);
  app.add_option("--file-name", options.file_name,
                 "Name of the trace; .gz or .zst packs\n"
                 "{rank}, {epoch} and the other placeholders of Composer's profiler are filled in.")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kTraceGroup);
  app.add_flag("--overwrite", options.overwrite, "Replace traces of the same name")
      ->group(kTraceGroup);
  add_duration(app, "--interval", options.interval_ns,
               "Sample the machine this often\n"
               "CPU, memory, disks and network; 1ms at least.")
      ->default_str("500ms")
      ->group(kTraceGroup);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t least, std::int64_t most, const std::string& help,
                        const std::string& group) {
  const auto take = [name, &value, least, most](const CLI::results_t& results) {
    const std::string& text = results.back();
    const auto number = whole_number<std::int64_t>(text);
    if (!number || *number < least || *number > most)
      throw UsageError(
          fmt::format("{}: '{}' is not a whole number from {} to {}", name, text, least, most));
    value = *number;
    return true;
  };
  CLI::Option* const option = app.add_option(name, take, help)->type_name("N")->group(group);
  return value >= least && value <= most ? option->default_str(std::to_string(value)) : option;
}

record::TraceNames names_of(const TraceOptions& options) {
  if (options.interval_ns < kLeastInterval)
    throw UsageError(fmt::format("--interval: {} is too short; 1ms is the least",
                                 format_duration(options.interval_ns)));
  const std::filesystem::path name(options.file_name);
  if (!name.has_filename() || name.is_absolute() ||
      std::find(name.begin(), name.end(), "..") != name.end())
    throw UsageError(
        fmt::format("--file-name: '{}' is not a name within the folder of -o (try "
                    "rank{{rank}}.json)",
                    options.file_name));
  record::TraceNames names;
  names.folder = options.folder;
  names.file = options.file_name;
  names.merged = "";
  return names;
}

}  // namespace traceloom
