// trace-stats idle: why the devices wait.
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "base/units.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

namespace traceloom {
namespace {

std::int64_t read_gap(const std::string& text) {
  const std::optional<std::int64_t> ns = parse_duration(text);
  if (!ns || *ns < 0)
    throw UsageError(fmt::format("--kernel-gap: '{}' is not a time (try 30us)", text));
  return *ns;
}

void add_idle(CLI::App& app, Work& work) {
  const auto options = std::make_shared<IdleOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "idle",
       .help =
           "Why devices wait: for the host, in a queue, or blocked\n"
           "Explains the gaps between pieces of work, for whole devices and by stream. A gap "
           "counts as host wait until the next work is launched, as queued from then on, as "
           "blocked while the host sits in a call that waits for the device, and as not recorded "
           "if the launch is not in the traces. A second table shows what the host did meanwhile.",
       .spread = true,
       .count_rows = count_streams},
      [options](const Run& run) { return Answer{idle_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--kernel-gap",
          [options](const std::string& text) { options->kernel_gap_ns = read_gap(text); },
          "Count shorter gaps as kernel wait, unless the host was late")
      ->type_name("TIME")
      ->default_str("30us");
  command
      ->add_option("--host-ops", options->host_rows,
                   "Show N rows of what the host did, and the rest as one")
      ->type_name("N")
      ->capture_default_str();
  set_examples(*command,
               {{"why the devices of all ranks wait", "trace-stats idle traces/"},
                {"with what the host did in steps 10 to 12",
                 "trace-stats idle rank0.json.gz --steps 10:12 --kernel-gap 5us --host-ops 50"}});
}

const RegisteredCommand kIdleCommand(CommandGroup::devices, 20, add_idle);

}  // namespace
}  // namespace traceloom
