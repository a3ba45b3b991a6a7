// check_clocks: finds oddities of the clocks and ranks of files that share a time line. None of
// them is a reason to stop.
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"
#include "identity/ranks/ranks.h"

#include <vector>

namespace traceloom {

// Counts these problems in FileClock::problems; each vector has one entry an input:
// - sync_conflict: a clock sync has another value than the one in use, which is the first.
// - far_sync: a sync is more than ten minutes from the file's events, or more than a day from the
//   reference's sync of the same cycle, so it belongs to another run.
// - wide_sync: ranks may be more than a millisecond apart in their cycle; counted for the first
//   such file.
// - ranks_apart: see ranks_apart.h.
// - no_clock: no file has any clock evidence, and no collective connects these ranks with the
//   lowest one; counted for the first file of them. Not if the user aligns by nothing.
// - world_size_disagrees: a file names another world size than the first file that names one.
// - missing_rank: a rank of that world has no file; counted for that first file. If no file names a
//   world size and no rank was chosen by RANK=path, a rank below the highest one is missing;
//   counted for the first file. A single file has no missing ranks.
void check_clocks(const std::vector<FileEvidence>& evidence, const std::vector<FileRank>& ranks,
                  const std::vector<StartTimes>& starts, const std::vector<ClockFacts>& facts,
                  AlignBy align_by, std::vector<FileClock>& clocks);

}  // namespace traceloom
