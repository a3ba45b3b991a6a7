// trace-stats longest: the longest spans of a run.
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace traceloom {
namespace {

struct LongestSettings {
  LongestOptions report;
  bool frames = false;
};

// So many spans of each rank are in memory.
void take_top(LongestSettings& settings, std::int64_t top) {
  constexpr std::int64_t kMost = 100'000;
  if (top < 1 || top > kMost)
    throw UsageError(fmt::format("--top: longest shows 1 to {} spans, not {}", kMost, top));
  settings.report.top = static_cast<std::size_t>(top);
}

void add_longest(CLI::App& app, Work& work) {
  const auto settings = std::make_shared<LongestSettings>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "longest",
       .help = "The longest single spans: rank, step, time and thread\n"
               "Shows operators, calls, other ranges of the host and the work of devices, over all "
               "ranks. Spans of the same length stand in the order of their begins.",
       .spread = true,
       .prepare = [settings](RunRequest& request) { request.frames = settings->frames; },
       .top = static_cast<std::int64_t>(settings->report.top),
       .take_top = [settings](std::int64_t top) { take_top(*settings, top); }},
      [settings](const Run& run) { return Answer{longest_report(run, settings->report)}; });
  command->add_flag("--frames", settings->frames,
                    "Also show spans around others: steps, epochs, Python's functions");
  set_examples(
      *command,
      {{"the five longest of two steps", "trace-stats longest traces/ --top 5 --steps 10:11"},
       {"which kernel was slow, and when", "trace-stats longest traces/ --rank 3"}});
}

const RegisteredCommand kLongestCommand(CommandGroup::time, 70, add_longest);

}  // namespace
}  // namespace traceloom
