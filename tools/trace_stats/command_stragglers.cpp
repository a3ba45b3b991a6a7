// trace-stats stragglers: which rank the others wait for.
#include "analysis/reports/stragglers_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {

void add_stragglers(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "stragglers",
       .help =
           "Which rank the others wait for, how often, how much, and why. Clocks of ranks are not "
           "compared: all leave a collective (Composer without collectives: event/backward) "
           "together, so what a rank spends there beyond the least of all ranks is waiting, and "
           "who spends least came last (in event/forward, where DDP sends its buffers, rank 0 is "
           "taken to wait for a rank that comes as late). Collectives in which all wait for all "
           "(no broadcasts and the like) are matched by process group and Seq, else by order, and "
           "compared one by one, at least when half of the communication of each rank is in such; "
           "else all of a step together. The delay of a rank is what each of those who waited for "
           "it waited at least, without what it had waited itself for others; what their own "
           "device work hides of a wait counts as far as it makes their exposed communication "
           "longer. A rank is named when it waits less than a quarter of what the next one waits, "
           "the difference is 10 % of a step, and it came last, as clearly, in 80 % of the steps "
           "(persistent) or in some of ten and more (sporadic, with low confidence); else when "
           "others wait 10 % of a step for it in 80 % of the steps. One that comes last in 80 % of "
           "the steps by less, 1 % of a step at least, is told with its size, and so is what was "
           "measured where none is named. Ranks that the "
           "events cannot tell apart are named together, as inconclusive; changing: as much is "
           "waited for one rank or another. The cause is the role in which it spends more than the "
           "median of the others, when that is half of the delay; clocks: the same kernels take "
           "longer, as on a device that is clocked down",
       .python = true},
      [](const Run& run) { return Answer{stragglers_report(run)}; });
  set_examples(*command, {{"for a script: the rank, or null",
                           "trace-stats stragglers traces/ --format json | jq .verdict.rank"}});
}

}  // namespace traceloom
