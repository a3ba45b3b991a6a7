// trace-stats memory: what memory is used for.
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace traceloom {
namespace {

struct MemoryArguments {
  MemoryOptions options;
  std::vector<std::string> stats;  // paths
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

Answer answer(const Run& run, const MemoryArguments& arguments) {
  std::vector<MemoryStatsFile> stats;
  stats.reserve(arguments.stats.size());
  for (const std::string& path : arguments.stats) stats.push_back(read_memory_stats(path));
  return {memory_report(run, stats, arguments.options)};
}

void add_memory(CLI::App& app, Work& work) {
  const auto arguments = std::make_shared<MemoryArguments>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "memory",
       .help =
           "What memory is used for, its peak, growth and leaks\n"
           "Reads torch's [memory] events (profile_memory=True), counters of memory, and memory "
           "stats (rank_*_memory_stats.yaml, as MemProfiler of finetuning-scheduler and the "
           "recorder write them; given as files or in a folder). Shows the peak and mean of each "
           "device, which operators hold the memory of the peak, what was never freed, and the "
           "growth of each step; for memory stats the start, end and difference of each function.",
       .details = true,
       .samples = true,
       .spread = true,
       .take_arguments =
           [arguments](std::vector<std::string>& given) {
             arguments->stats = take_memory_stats(given);
           }},
      [arguments](const Run& run) { return answer(run, *arguments); });
  MemoryOptions& options = arguments->options;
  add_rows(*command, "--ops", options.operators, "Show N operators for each device; 0: all");
  add_rows(*command, "--curve", options.curve, "Also show each device's curve with N points");
  command->add_flag("--by-rank", options.by_rank,
                    "Show operators and functions of each rank by themselves");
  command->add_flag(
      "--all-values", options.all_values,
      "Also show values that are always 0, and those of torch's pools of small and large blocks");
  set_examples(*command,
               {{"the peak, and who had allocated what was there", "trace-stats memory traces/"},
                {"what a step of training leaves behind, across ranks",
                 "trace-stats memory 'memprofiler/rank_*_memory_stats.yaml'"}});
}

const RegisteredCommand kMemoryCommand(CommandGroup::devices, 70, add_memory);

}  // namespace
}  // namespace traceloom
