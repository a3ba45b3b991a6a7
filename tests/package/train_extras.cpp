#include <traceloom/record/host_recorder.h>
#include <traceloom/record/memory_scope.h>
#include <traceloom/record/schedule.h>
#include <traceloom/record/trace_folder.h>

using namespace traceloom::record;

int main() {
  const Schedule schedule = cyclic_schedule({});
  const NameTemplate name("ba{batch}-rank{rank}.json");
  const RunIdentity run{
      "run",
      find_place(
          {.rank = 3, .local_rank = 0, .world_size = 4, .local_world_size = 4, .node_rank = 0})};
  Position at;
  if (schedule(at) != Action::warmup) return 1;
  at.batch_in_epoch = 4;
  if (schedule(at) != Action::active_and_save) return 2;
  const HostRecorder host(host_options_for(run.place));  // records nothing without a session
  return name.expand(run, at) == "ba0-rank3.json" ? 0 : 3;
}
