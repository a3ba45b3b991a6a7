#include "trace_merge/merge_options.h"

#include "base/error.h"
#include "common/help_formatter.h"
#include "common/options.h"
#include "common/parse.h"
#include "input/input_list.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace traceloom {

bool read_command_line(int argc, const char* const* argv, MergeCommand& command) {
  CLI::App app(
      "Merges the Chrome JSON traces of many ranks into one trace on one clock, for "
      "ui.perfetto.dev and chrome://tracing. Takes the files of Composer, torch.profiler (Kineto) "
      "and other producers, plain or gzip, whole or cut off.");
  set_up(app, "trace-merge");
  std::vector<std::string> inputs;
  add_inputs(app, inputs);
  // Composer's merger spells it --output_file.
  add_output(app, command.merge.output);
  app.add_option("--output_file", command.merge.output)->group("");
  app.add_option("--gzip-level", command.merge.gzip_level,
                 fmt::format("{} (fast) to {} (small), for outputs that end in .gz; default {}",
                             kMinGzipLevel, kMaxGzipLevel, kDefaultGzipLevel))
      ->group("Output")
      ->type_name("N");
  app.add_flag("--keep-begin-end", command.merge.keep_begin_end,
               "Leave begin and end events (B, E) as they are instead of joining each pair to one "
               "X event")
      ->group("Output");
  add_strict(app, command.strict);
  add_keep_going(app, command.merge.keep_going);
  add_threads(app, command.merge.threads);
  add_verbose(app, command.verbosity);
  set_examples(
      app, {{"all ranks of a run into one trace", "trace-merge traces/ -o merged.json"},
            {"compressed, in and out", "trace-merge rank*.json.gz -o merged.json.gz"},
            {"files that do not say their rank", "trace-merge 0=a.json 1=b.json -o ab.json"},
            {"the form of Composer's merger", "trace-merge -o merged.json rank0.json rank1.json"}});
  if (!parse(app, argc, argv)) return false;
  if (command.merge.output.empty())
    throw UsageError(
        "no output named; add -o merged.json (or -o - for stdout), see trace-merge --help");
  if (command.merge.gzip_level < kMinGzipLevel || command.merge.gzip_level > kMaxGzipLevel)
    throw UsageError(fmt::format("--gzip-level: {} is not from {} to {}", command.merge.gzip_level,
                                 kMinGzipLevel, kMaxGzipLevel));
  command.merge.inputs = expand_inputs(inputs);
  return true;
}

}  // namespace traceloom
