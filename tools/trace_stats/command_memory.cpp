// trace-stats memory: what memory is used for.
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

struct MemoryArguments {
  MemoryOptions options;
  std::vector<std::string> base;
  std::vector<std::string> changed;
  std::vector<OtherFile> files;
  MemoryReading reading;
  bool takes_steps = true;  // of the run, for snapshots that have none
};

// Adds an option that takes a number of rows from 0 to a million.
void add_rows(CLI::App& command, const std::string& name, std::size_t& rows,
              const std::string& help) {
  constexpr std::int64_t kMost = 1'000'000;
  command
      .add_option_function<std::int64_t>(
          name,
          [name, &rows](std::int64_t number) {
            if (number < 0 || number > kMost)
              throw UsageError(fmt::format("{}: {} is not a number of rows", name, number));
            rows = static_cast<std::size_t>(number);
          },
          help)
      ->type_name("N")
      ->default_str(std::to_string(rows));
}

// Returns the snapshots of both sides, which go together.
std::vector<std::string> sides(const MemoryArguments& arguments) {
  if (arguments.base.size() != arguments.changed.size())
    throw UsageError("--base and --new go together: name the snapshots of both sides");
  std::vector<std::string> both = arguments.base;
  both.insert(both.end(), arguments.changed.begin(), arguments.changed.end());
  return both;
}

// Gets the files of all arguments; those of both sides come last.
void take(MemoryArguments& arguments, std::vector<OtherFile> files) {
  arguments.files = std::move(files);
  if (arguments.base.empty()) return;
  std::size_t last = 0;
  for (const OtherFile& file : arguments.files) last = std::max(last, file.argument);
  if (last == 0) throw UsageError("--base and --new: one of them has no snapshot");
  arguments.options.base = last - 1;
}

void add_memory(CLI::App& app, Work& work) {
  const auto arguments = std::make_shared<MemoryArguments>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "memory",
       .help =
           "What memory is used for, who held it at the peak, leaks, out of memory\n"
           "Reads allocator snapshots of torch (.pickle, also packed, or a page of memory_viz), "
           "reports of FSDP's memory tracker, memory timelines, memory stats "
           "(rank_*_memory_stats.yaml or .pickle), torch's [memory] events (profile_memory=True) "
           "and counters of memory, as files or in folders. Shows for all ranks and devices the "
           "peak, which places in the code held it, what grows, what was never freed, and why "
           "memory ran out. No code of a pickle is ever run.",
       .details = true,
       .samples = true,
       .spread = true,
       .prepare =
           [arguments](RunRequest& request) {
             arguments->reading = {request.threads, request.keep_going, request.ranks};
             // A run of some steps does not say which step a moment is in.
             arguments->takes_steps = !request.steps && !request.time;
           },
       .take_memory = [arguments](std::vector<OtherFile> files) { take(*arguments, files); },
       .more_inputs = [arguments] { return sides(*arguments); }},
      [arguments](const Run& run) {
        MemoryReading reading = arguments->reading;
        if (arguments->takes_steps) reading.run = &run;
        const MemoryFiles files = read_memory_files(arguments->files, reading);
        if (run.files.empty() && files.is_empty() && !files.errors.empty())
          throw UsageError("none of the inputs can be read; " + files.errors.front());
        Answer answer{memory_report(run, files, arguments->options)};
        answer.is_loss = files.has_loss();
        return answer;
      });
  MemoryOptions& options = arguments->options;
  command->add_option("--base", arguments->base, "The snapshot before, for growth by place")
      ->type_name("FILE")
      ->expected(1);
  command->add_option("--new", arguments->changed, "The snapshot after it")
      ->type_name("FILE")
      ->expected(1);
  add_rows(*command, "--ops", options.operators, "Show N operators for each device; 0: all");
  add_rows(*command, "--curve", options.curve,
           "Also show curves of devices, snapshots, categories with N points");
  command->add_flag("--by-rank", options.by_rank,
                    "Show operators and functions of each rank by themselves");
  command->add_flag(
      "--all-values", options.all_values,
      "Also show values that are always 0, and those of torch's pools of small and large blocks");
  set_examples(*command,
               {{"the peak, and who had allocated what was there", "trace-stats memory traces/"},
                {"who has more in one snapshot than in another one",
                 "trace-stats memory --base start.pickle --new end.pickle"},
                {"what a step of training leaves behind, across ranks",
                 "trace-stats memory 'memprofiler/rank_*_memory_stats.yaml'"}});
}

const RegisteredCommand kMemoryCommand(CommandGroup::devices, 70, add_memory);

}  // namespace
}  // namespace traceloom
