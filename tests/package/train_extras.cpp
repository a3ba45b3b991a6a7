#include <string>
#include <traceloom/record/host_recorder.h>
#include <traceloom/record/memory_scope.h>
#include <traceloom/record/schedule.h>

using namespace traceloom::record;

int main() {
  const Schedule schedule = cyclic_schedule({});
  Position at;
  if (schedule(at) != Action::warmup) return 1;
  at.batch_in_epoch = 4;
  if (schedule(at) != Action::active_and_save) return 2;
  Options place;
  place.local_rank = 1;
  const HostOptions options = host_options_for(place);
  if (options.cpu != 0 || options.process != 1) return 3;
  const HostRecorder host(options);  // records nothing without a session
  MemoryStats stats({.warmup_iterations = 0});
  { const MemoryScope scope(stats, "f"); }
  return stats.growth("f").iterations == 1 ? 0 : 4;
}
