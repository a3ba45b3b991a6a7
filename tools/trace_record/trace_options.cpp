#include "trace_record/trace_options.h"

#include "base/error.h"
#include "base/units.h"
#include "common/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace traceloom {
namespace {

constexpr char kTraceGroup[] = "Trace";
constexpr std::int64_t kLeastInterval = 1'000'000;

}  // namespace

void add_trace_options(CLI::App& app, TraceOptions& options) {
  app.add_option("-o,--output", options.folder,
                 fmt::format("The folder of the trace [default: {}]", options.folder))
      ->type_name("DIR")
      ->group(kTraceGroup);
  app.add_option("--file-name", options.file_name,
                 fmt::format("The name of its file; a name in .gz compresses. {{rank}}, {{epoch}} "
                             "and the other placeholders of Composer's profiler are filled in "
                             "[default: {}]",
                             options.file_name))
      ->type_name("NAME")
      ->group(kTraceGroup);
  app.add_flag("--overwrite", options.overwrite,
               "Replace traces of the same name that are there already")
      ->group(kTraceGroup);
  add_duration(app, "--interval", options.interval_ns,
               "How often CPU, memory, disks and network are sampled, 1ms at least [default: "
               "500ms]")
      ->group(kTraceGroup);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value,
                        std::int64_t least, std::int64_t most, const std::string& help,
                        const std::string& group) {
  const auto take = [name, &value, least, most](const CLI::results_t& results) {
    const std::string& text = results.back();
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && rest == text.data() + text.size();
    if (!is_number || number < least || number > most)
      throw UsageError(
          fmt::format("{}: '{}' is not a whole number from {} to {}", name, text, least, most));
    value = number;
    return true;
  };
  return app.add_option(name, take, help)->type_name("N")->group(group);
}

record::TraceNames names_of(const TraceOptions& options) {
  if (options.interval_ns < kLeastInterval)
    throw UsageError(fmt::format("--interval: {} is too short; 1ms is the least",
                                 format_duration(options.interval_ns)));
  const std::filesystem::path name(options.file_name);
  if (!name.has_filename() || name.is_absolute() ||
      std::find(name.begin(), name.end(), "..") != name.end())
    throw UsageError(
        fmt::format("--file-name: '{}' is no name within the folder that -o gives (try "
                    "rank{{rank}}.json)",
                    options.file_name));
  record::TraceNames names;
  names.folder = options.folder;
  names.file = options.file_name;
  names.merged = "";
  return names;
}

}  // namespace traceloom
