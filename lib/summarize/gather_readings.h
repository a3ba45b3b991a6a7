// gather_readings: brings the facts about the files that the processes of a team have read to
// process 0.
//
//   scan_files(paths, visitor, {.files = own});
//   gather_readings(team, own, visitor.files());
//   if (team.is_first()) mark_repeats(inputs, ...);
#pragma once

#include "base/file_block.h"
#include "identity/repeats/file_reading.h"
#include "team/team.h"

#include <vector>

namespace traceloom {

// `own` are the files that this process has read; `files` are all of them.
void gather_readings(Team& team, const FileBlock& own, std::vector<FileReading>& files);

}  // namespace traceloom
