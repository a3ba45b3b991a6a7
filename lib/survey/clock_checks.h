// What is odd about the clocks and ranks of files that are to share a time line, and no reason to
// stop.
#pragma once

#include "clock/alignment.h"
#include "survey/file_evidence.h"
#include "survey/ranks.h"
#include "survey/start_times.h"

#include <vector>

namespace traceloom {

// Counted into FileClock::problems, one entry an input in each vector:
// - sync_conflict: a clock sync of another value than the one that is used, which is the first.
// - far_sync: a sync more than ten minutes from the file's events, or more than a day from the
//   reference's sync of the same cycle: of another run.
// - wide_sync: ranks may be more than a millisecond apart in their cycle; of the first such file.
// - ranks_apart: a rank of several events, none of them while any other one has some, by base times
//   alone and without collectives in common, of a run that another one is of, too: by the size of
//   the world, or by a process group; of its first file, but for that of the lowest rank.
// - world_size_disagrees: another world size than the first file that names one.
// - missing_rank: a rank of that world that no file is of; on that first file. When no file names
//   a world size and no rank was chosen by RANK=path: a rank below the highest one; on the first
//   file. Not when there is but one file.
void check_clocks(const std::vector<FileEvidence>& evidence, const std::vector<FileRank>& ranks,
                  const std::vector<StartTimes>& starts, const std::vector<ClockFacts>& facts,
                  std::vector<FileClock>& clocks);

}  // namespace traceloom
