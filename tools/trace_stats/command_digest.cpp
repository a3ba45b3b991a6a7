// trace-stats digest: packs traces into small files that all commands read as the traces.
#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "digest/write/write_digest.h"
#include "output/file_sink.h"
#include "run/run.h"
#include "scan/scan_files.h"
#include "trace_stats/commands.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// The options as they were typed.
struct DigestSettings {
  std::vector<std::string> inputs;
  std::string output;
  unsigned threads = 0;
  bool strict = false;
  bool keep_going = false;
  Verbosity verbosity = Verbosity::normal;
};

// A digest that was written, or the reason why not.
struct DigestOutcome {
  std::string path = {};   // of the trace
  std::string error = {};  // empty after a success
  ProblemCounts problems = {};
  std::optional<Error> failure = {};
};

bool is_folder(const std::string& output) {
  std::error_code error;
  return output.ends_with('/') || fs::is_directory(output, error);
}

// Leaves out digests that lie in the folders of traces; one that is named is a mistake.
std::vector<Input> find_traces(const DigestSettings& options) {
  std::vector<Input> inputs = find_inputs(kToolName, options.inputs, options.keep_going);
  for (const Input& input : inputs) {
    if (!input.digest.empty() && input.is_named)
      throw UsageError(fmt::format("{}: is a digest already; copy it", input.digest));
    if (input.forced_rank)
      throw UsageError(
          fmt::format("{}: a digest keeps no RANK=; give it where the digest is read", input.path));
  }
  const auto digests =
      std::erase_if(inputs, [](const Input& input) { return !input.digest.empty(); });
  if (inputs.empty()) throw UsageError("the inputs are digests already; copy them");
  if (digests > 0)
    say(kToolName, Tone::note,
        fmt::format("left out {} {} in the folders", digests, plural(digests, "digest")));
  return inputs;
}

std::vector<std::string> find_targets(const DigestSettings& options,
                                      const std::vector<Input>& inputs) {
  if (options.output.empty()) throw UsageError("name the digest: -o FILE, or -o FOLDER/");
  if (is_folder(options.output)) return digest_targets(inputs, options.inputs, options.output);
  if (inputs.size() > 1)
    throw UsageError(fmt::format("{} traces have a digest each; name a folder for them: -o {}/",
                                 inputs.size(), options.output));
  return {options.output};
}

void make_folder_of(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) throw Error(folder.string(), error.message());
}

DigestOutcome digest_one(const std::string& trace, const std::string& target, unsigned threads) {
  DigestOutcome outcome{.path = trace};
  try {
    const std::unique_ptr<Sink> sink = open_file_sink(target);
    outcome.problems = write_digest(trace, *sink, threads).problems;
    sink->close();
  } catch (const Error& error) {
    outcome.failure = error;
    outcome.error = error.what();
  }
  return outcome;
}

// Many traces are packed side by side, each by one thread; of few, the blocks are.
std::vector<DigestOutcome> digest_all(const DigestSettings& options,
                                      const std::vector<Input>& inputs,
                                      const std::vector<std::string>& targets) {
  std::vector<DigestOutcome> outcomes(inputs.size());
  const std::size_t threads = thread_count(options.threads);
  const bool side_by_side = inputs.size() >= threads;
  for_each_parallel(inputs.size(), side_by_side ? options.threads : 1, [&](std::size_t i) {
    outcomes[i] =
        digest_one(inputs[i].path, targets[i], side_by_side ? 1 : static_cast<unsigned>(threads));
  });
  return outcomes;
}

ExitCode run_digest(const DigestSettings& options) {
  if (!tool_team().is_alone())
    throw UsageError(
        "digest does not run with --mpi: start it on each node by itself; see docs/scale.md");
  const std::vector<Input> inputs = find_traces(options);
  const std::vector<std::string> targets = find_targets(options, inputs);
  for (const std::string& target : targets) refuse_input_as_output(inputs, target);
  if (is_folder(options.output)) std::for_each(targets.begin(), targets.end(), make_folder_of);
  const std::vector<DigestOutcome> outcomes = digest_all(options, inputs, targets);
  for (const DigestOutcome& outcome : outcomes)
    if (outcome.failure && !options.keep_going)
      throw inputs.size() > 1 ? with_advice(*outcome.failure, "--keep-going leaves it out")
                              : *outcome.failure;
  const bool loss = report_files(outcomes, options.verbosity);
  return loss && options.strict ? ExitCode::no : ExitCode::done;
}

void add_digest(CLI::App& app, Work& work) {
  const auto options = std::make_shared<DigestSettings>();
  CLI::App* const command =
      app.add_subcommand("digest",
                         "Pack traces into small files that take their place\n"
                         "A digest is mostly 1 to 5 % of the trace's text, and every command reads "
                         "it as the trace: what it "
                         "prints is the same to the byte, with the trace's name. Nothing is lost.");
  set_page(*command, "docs/commands/digest.md");
  add_inputs(*command, options->inputs);
  command
      ->add_option("-o,--output", options->output,
                   "Write the digest to FILE, or one digest a trace to FOLDER/\n"
                   "The digest of rank17.json.gz is rank17.digest there.")
      ->type_name("FILE")
      ->group(kCommonGroup);
  add_threads(*command, options->threads);
  add_keep_going(*command, options->keep_going);
  add_strict(*command, options->strict);
  add_verbose(*command, options->verbosity);
  set_examples(*command, {{"one trace, where it was recorded",
                           "trace-stats digest rank17.json.gz -o /shared/rank17.digest"},
                          {"all traces of a run", "trace-stats digest traces/ -o digests/"},
                          {"read them as traces", "trace-stats bottleneck digests/"}});
  command->callback([options, &work] { work.run = [options] { return run_digest(*options); }; });
}

const RegisteredCommand kDigestCommand(CommandGroup::files, 30, add_digest);

}  // namespace
}  // namespace traceloom
