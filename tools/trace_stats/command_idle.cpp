// trace-stats idle: why the devices wait.
#include "analysis/reports/idle_report.h"
#include "base/error.h"
#include "base/units.h"
#include "common/help_formatter.h"
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
    throw UsageError(fmt::format("--kernel-gap: '{}' is no time (try 30us)", text));
  return *ns;
}

}  // namespace

void add_idle(CLI::App& app, Work& work) {
  const auto options = std::make_shared<IdleOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "idle",
       .help =
           "Why devices wait, from their first to their last work: for whole devices (when none of "
           "their streams has work) and by stream. A gap lasts until the next work begins. It is "
           "host wait until that was launched (to its end, when the work began at once), queued "
           "from then on (kernel wait is the part of that which is shorter than --kernel-gap: "
           "changing from one kernel to the next), blocked while the host sits in a call that "
           "waits for the device (cudaDeviceSynchronize, a cudaMemcpyAsync that does not return), "
           "not recorded when the launch is not in the traces; these four add up to idle. HTA's "
           "three classes are beside them (--wide, --format json). Calls are found by "
           "correlation; where no event has one, gaps count as host wait. What the host did "
           "is the innermost operator, annotation or wait for data, and the call of the runtime in "
           "it, on the thread that launched the work at the end of the gap, or that is blocked",
       .count_rows = count_streams},
      [options](const Run& run) { return Answer{idle_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--kernel-gap",
          [options](const std::string& text) { options->kernel_gap_ns = read_gap(text); },
          "Gaps shorter than this are kernel wait, unless the host was late: 5us, 30us")
      ->type_name("TIME")
      ->default_str("30us")
      ->group("Rows");
  command
      ->add_option("--host-ops", options->host_rows,
                   "Show N rows of what the host did; the others are one row")
      ->type_name("N")
      ->capture_default_str()
      ->group("Rows");
  set_examples(*command,
               {{"why the devices of all ranks wait", "trace-stats idle traces/"},
                {"with what the host did in steps 10 to 12",
                 "trace-stats idle rank0.json.gz --steps 10:12 --kernel-gap 5us --host-ops 50"}});
}

}  // namespace traceloom
