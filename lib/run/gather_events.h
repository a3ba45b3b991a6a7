// gather_events: brings the events that the processes of a team have collected to process 0.
//
//   scan_files(paths, collector, {.files = own});
//   gather_events(team, own, collector);
//   if (team.is_first()) use(collector.files());                  // of all files
#pragma once

#include "base/file_block.h"
#include "run/event_collector.h"
#include "team/team.h"

namespace traceloom {

// `own` are the files that this process has read; all collectors have the same number of files.
// Afterwards the collector of process 0 is as if it had read all files, down to the numbers of
// labels, tracks and details, since these are given in the order of the files. The others have lost
// their events. Process 0 holds one message at a time besides the columns.
void gather_events(Team& team, const FileBlock& own, EventCollector& collector);

}  // namespace traceloom
