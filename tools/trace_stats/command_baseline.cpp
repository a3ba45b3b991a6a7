// trace-stats baseline: keeps captures of a version for later comparisons.
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/run_tool.h"
#include "comparison/captures/baseline.h"
#include "trace_stats/commands.h"
#include "trace_stats/read_captures.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// The word before the captures that begins another version. A folder of that name is ./accept.
constexpr std::string_view kAccept = "accept";

// The options as they were typed.
struct BaselineSettings {
  std::vector<std::string> captures;
  bool appends = false;
  bool accepts = false;
  std::string reason;
  CaptureReading reading;
  bool strict = false;
};

// Takes the word accept from the captures, and refuses what does not go together.
void take_action(BaselineSettings& options) {
  std::vector<std::string>& captures = options.captures;
  options.accepts = captures.front() == kAccept;
  if (options.accepts) captures.erase(captures.begin());
  if (options.appends && options.accepts)
    throw UsageError("--append adds captures of the same version, accept begins another: use one");
  if (options.accepts && captures.empty())
    throw UsageError(
        "accept needs the captures of the new version: trace-stats baseline accept new/ -o "
        "base.json --reason 'larger vocabulary' (a folder of that name is ./accept)");
  if (options.accepts && options.reason.empty())
    throw UsageError("accept needs the reason of the change: --reason 'larger vocabulary'");
  if (!options.accepts && !options.reason.empty())
    throw UsageError(
        "--reason belongs to accept: trace-stats baseline accept CAPTURES -o base.json --reason "
        "'larger vocabulary'");
  if ((options.appends || options.accepts) && options.reading.output == "-")
    throw UsageError("--append and accept change a file: name it with -o base.json");
}

ExitCode run_baseline(BaselineSettings& options) {
  take_action(options);
  const std::string& path = options.reading.output;
  Baseline baseline;
  if (options.appends || options.accepts) baseline = read_baseline(path);
  CaptureReading reading = options.reading;
  reading.memory = true;
  CaptureReader reader(reading);
  if (options.appends) reader.know("baseline", baseline.captures);
  SideCaptures read = reader.read("baseline", options.captures);
  if (!tool_team().is_first()) return ExitCode::done;
  if (options.accepts)
    baseline.accept(options.reason, std::move(read.captures));
  else
    baseline.append(std::move(read.captures));
  write_output(path, baseline_json(baseline), false);
  return reader.has_loss() && options.strict ? ExitCode::no : ExitCode::done;
}

void add_baseline(CLI::App& app, Work& work) {
  const auto options = std::make_shared<BaselineSettings>();
  CLI::App* const command =
      app.add_subcommand("baseline",
                         "Keep captures of a version for compare\n"
                         "Writes what a comparison needs of these captures to a small JSON file, "
                         "which takes the place "
                         "of their traces: trace-stats compare base.json new/.");
  set_page(*command, "docs/commands/baseline.md");
  command
      ->add_option("CAPTURES", options->captures,
                   "Captures, as compare takes them\n"
                   "The word accept before them replaces the captures in the file by those of an "
                   "intended change.")
      ->type_name("")
      ->required();
  command->add_flag("--append", options->appends,
                    "Add the captures to those in the file\nIt keeps the newest 20.");
  command
      ->add_option("--reason", options->reason,
                   "With accept: why the version changes\n"
                   "The file keeps it, and the numbers of the older version for the noise.")
      ->type_name("REASON");
  add_output(*command, options->reading.output);
  add_threads(*command, options->reading.threads);
  add_keep_going(*command, options->reading.keep_going);
  add_strict(*command, options->strict);
  add_verbose(*command, options->reading.verbosity);
  set_examples(*command,
               {{"keep a version", "trace-stats baseline base/ -o base.json"},
                {"a change that is meant to cost time",
                 "trace-stats baseline accept new/ -o base.json --reason 'larger vocabulary'"}});
  command->callback([options, &work] { work.run = [options] { return run_baseline(*options); }; });
}

const RegisteredCommand kBaselineCommand(CommandGroup::time, 60, add_baseline);

}  // namespace
}  // namespace traceloom
