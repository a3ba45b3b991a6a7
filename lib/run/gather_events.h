// gather_events: brings the events that the processes of a team have collected to process 0, or
// makes all processes know all but the events.
//
//   scan_files(paths, collector, {.files = own});
//   gather_events(team, own, collector);
//   if (team.is_first()) use(collector.files());                  // of all files
#pragma once

#include "base/problems.h"
#include "run/event_collector.h"
#include "run/run.h"
#include "team/team.h"

#include <vector>

namespace traceloom {

// Gives all processes what each has read, except the columns, which stay where they are. `own` are
// the files that this process has read; all collectors have the same number of files. The numbers
// of labels, tracks and details are the same on all processes: those that one process would give.
void share_readings(Team& team, const FileBlock& own, EventCollector& collector);

// Brings the events of each rank to one process: the first that has any or, without `spread`,
// process 0, which holds one message at a time besides the columns. `ranks` are those of the files
// that this process has read; afterwards they are those of all processes, in the same order on
// each.
void settle_ranks(Team& team, std::vector<RankEvents>& ranks, bool spread);

}  // namespace traceloom
