// trace-stats mesh: how the ranks of a job share its work.
#include "analysis/job/job_reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_mesh(CLI::App& app, Work& work) {
  CLI::App* const command =
      add_analysis(app, work,
                   {.name = "mesh",
                    .help = "How the ranks of a job share its work\n"
                            "Shows the sizes of the mesh, the place of each rank in it, and what "
                            "the groups of each kind exchange. What a group is for comes from its "
                            "description, or else from what happens in it; --mesh overrides both.",
                    .details = true,
                    .spread = true,
                    .takes_mesh = true},
                   [](const Run& run) { return Answer{mesh_report(run)}; });
  set_examples(*command, {{"the mesh of a job", "trace-stats mesh traces/"}});
}

const RegisteredCommand kMeshCommand(CommandGroup::time, 80, add_mesh);

}  // namespace
}  // namespace traceloom
