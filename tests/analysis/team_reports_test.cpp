// A report by several processes is the report by one, to the byte, on each of them.
#include "analysis/reports/bottleneck_report.h"
#include "analysis/reports/check_report.h"
#include "analysis/reports/comm_report.h"
#include "analysis/reports/dataloader_report.h"
#include "analysis/reports/gpu_report.h"
#include "analysis/reports/host_report.h"
#include "analysis/reports/idle_report.h"
#include "analysis/reports/info_report.h"
#include "analysis/reports/kernels_report.h"
#include "analysis/reports/launch_report.h"
#include "analysis/reports/memcpy_report.h"
#include "analysis/reports/memory_report.h"
#include "analysis/reports/ops_report.h"
#include "analysis/reports/steps_report.h"
#include "analysis/reports/stragglers_report.h"
#include "input/input_list.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct SpreadReport {
  const char* name;
  std::function<Report(const Run&)> make;
};

const std::vector<SpreadReport>& spread_reports() {
  static const std::vector<SpreadReport> reports{
      {"bottleneck", [](const Run& run) { return bottleneck_report(run).report; }},
      {"check", [](const Run& run) { return check_report(run).report; }},
      {"comm", [](const Run& run) { return comm_report(run, {.each = true}); }},
      {"dataloader", [](const Run& run) { return dataloader_report(run); }},
      {"gpu", [](const Run& run) { return gpu_report(run); }},
      {"host", [](const Run& run) { return host_report(run, {.all = true}); }},
      {"idle", [](const Run& run) { return idle_report(run, {}); }},
      {"info", [](const Run& run) { return info_report(run); }},
      {"kernels", [](const Run& run) { return kernels_report(run, {}); }},
      {"kernels by all",
       [](const Run& run) {
         return kernels_report(run, {.by_name = true,
                                     .by_type = true,
                                     .by_operator = true,
                                     .by_shape = true,
                                     .by_arguments = true,
                                     .by_launch = true,
                                     .by_stream = true,
                                     .by_rank = true});
       }},
      {"launch", [](const Run& run) { return launch_report(run, {}); }},
      {"memcpy",
       [](const Run& run) { return memcpy_report(run, {.by_rank = true, .by_device = true}); }},
      {"memory",
       [](const Run& run) {
         return memory_report(run, {}, {.by_rank = true, .operators = 0, .curve = 9});
       }},
      {"ops", [](const Run& run) { return ops_report(run, {}); }},
      {"ops by all",
       [](const Run& run) {
         return ops_report(run, {.by_name = true,
                                 .by_type = true,
                                 .by_shape = true,
                                 .by_arguments = true,
                                 .by_thread = true,
                                 .by_rank = true});
       }},
      {"steps", [](const Run& run) { return steps_report(run, {.raw = true}); }},
      {"stragglers", [](const Run& run) { return stragglers_report(run); }},
  };
  return reports;
}

std::string json_of(const Report& report) {
  return render_report(report, TableFormat::json, {});
}

}  // namespace

TEST_CASE("reports of a team: the same as of one process, on all of them") {
  for (const char* const folder : {"compare/base/c0", "cycles", "demo/composer", "demo/kineto",
                                   "devices", "merge/ok", "modules", "straggler"}) {
    RunRequest request;
    request.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
    request.threads = 2;
    request.details = request.arguments = request.python = request.arrows = request.samples = true;
    const Run alone = read_run(request);
    request.spread = true;
    for (const std::size_t processes : {2, 3, 5})
      run_as_team(processes, [&](Team& team) {
        RunRequest own = request;
        own.team = &team;
        const Run run = read_run(own);
        for (const SpreadReport& report : spread_reports()) {
          CAPTURE(folder);
          CAPTURE(report.name);
          CHECK(json_of(report.make(run)) == json_of(report.make(alone)));
        }
      });
  }
}
