// trace-stats baseline: keeps captures of a version for later comparisons.
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "comparison/captures/baseline.h"
#include "comparison/judge/judge.h"
#include "comparison/sides.h"
#include "input/byte_source.h"
#include "input/input_list.h"
#include "trace_stats/commands.h"
#include "trace_stats/read_captures.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
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

// Keeps other processes from changing the file between its reading and its replacement: they would
// lose each other's captures. A lock belongs to a file and not to its name, so that who waited for
// the file that was replaced locks the new one.
class BaselineLock {
 public:
  explicit BaselineLock(std::string path) : path_(std::move(path)) {
    do lock();
    while (!same_file(fmt::format("/proc/self/fd/{}", descriptor_), path_));
    watch_.opened(path_, descriptor_);
  }
  ~BaselineLock() { close(descriptor_); }
  BaselineLock(const BaselineLock&) = delete;
  BaselineLock& operator=(const BaselineLock&) = delete;

  // Throws Error if the file has changed: its file system has no locks, or a program did not ask.
  void check() const try { watch_.read(path_, descriptor_); } catch (const Error&) {
    throw Error(path_, "another process has changed it meanwhile, so nothing is added; try again");
  }

 private:
  void lock() {
    if (descriptor_ >= 0) close(descriptor_);
    // NFS locks only files that are open for writing.
    descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 && errno == EISDIR)
      throw Error(path_, "is a directory; name the baseline in it");
    if (descriptor_ < 0) throw system_error(path_, errno);
    if (!can_be_reread(path_)) throw Error(path_, "is no regular file; name a baseline");
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    if (!std::exchange(has_said_, true))
      say(kToolName, Tone::note, path_ + ": another process adds to it; waiting for its end");
    flock(descriptor_, LOCK_EX);
  }

  std::string path_;
  int descriptor_ = -1;
  bool has_said_ = false;
  FileWatch watch_;
};

// A run on other devices or with other shapes would count as noise between runs.
void refuse_another_program(const std::string& path, const Baseline& baseline,
                            const std::vector<Capture>& run) {
  if (run.empty()) return;
  for (const Difference& difference : find_differences(baseline.runs.back(), run))
    if (difference.forbids)
      throw Error(path, fmt::format("{}, which is another version: begin it with trace-stats "
                                    "baseline accept",
                                    difference.text));
}

ExitCode run_baseline(BaselineSettings& options) {
  take_action(options);
  const std::string& path = options.reading.output;
  Baseline baseline;
  std::optional<BaselineLock> lock;
  if (options.appends || options.accepts) {
    tool_team().agree([&] {
      if (tool_team().is_first()) lock.emplace(path);
    });
    // A version that begins has nothing of the file, which may be damaged.
    if (options.appends || !is_baseline(path)) baseline = read_baseline(path);
  }
  CaptureReading reading = options.reading;
  reading.memory = true;
  CaptureReader reader(reading);
  if (options.appends)
    for (const std::vector<Capture>& run : baseline.runs) reader.know("baseline", run);
  SideCaptures read = reader.read("baseline", options.captures);
  if (!tool_team().is_first()) return ExitCode::done;
  if (options.appends) refuse_another_program(path, baseline, read.captures);
  if (options.accepts) baseline.accept(options.reason);
  for (std::vector<Capture>& run : read.earlier_runs) baseline.append(std::move(run));
  baseline.append(std::move(read.captures));
  if (values_of(baseline.runs.back()).empty())
    throw Error(path, fmt::format("would count in no comparison, so it is not written: no capture "
                                  "has {} steps with a length; record more steps a capture",
                                  kLeastSteps + 1));
  const std::string text = baseline_json(baseline);
  if (lock) lock->check();
  write_output(path, text, false);
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
                    "Add the captures to those in the file, as a run of the same version\n"
                    "It keeps the first 5 runs and the newest 20.");
  command
      ->add_option("--reason", options->reason,
                   "With accept: why the version changes\n"
                   "The file keeps it.")
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
