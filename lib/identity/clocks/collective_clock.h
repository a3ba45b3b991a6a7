// align_by_collectives: aligns the clocks of ranks without a common sync by the collectives and
// messages that they have in common.
//
//   align_by_collectives(files, options);                                // in plan_clocks()
#pragma once

#include "clock/alignment.h"
#include "identity/clocks/collective_matches.h"

namespace traceloom {

// The function uses files that recorded collectives of their
// ranks; a merged file is moved as a whole. It finds how far the clock of each file is ahead of a
// reference: that of the lowest rank, or of a file with better evidence (ClockOptions::offsets, the
// rounds or the machine of our recorder, moments that files stamped). Files with better evidence
// keep their clocks. FileClock::collectives holds the estimate, and error_ns and worst_error_ns the
// possible error of the clock that is used.
//
// The clocks of ranks that have collectives in common are moved (ClockMethod::collectives) in two
// cases; other files of these ranks move with them:
// 1. The estimate contradicts the clock of a rank (a clock sync of one number, a base time).
// 2. The estimate brings the ends of the collectives together to less than half their distance, and
//    by more than 10 us.
//
// Otherwise all clocks stay. In both cases, a clock stays that is off by no more than the least
// error that can be claimed (CollectiveFit). These problems are counted:
// - shifted_clock: a file was moved. Files that were moved alike are reported once, for the first
//   of them (clock_checks.h).
// - clock_conflict: a clock was set while collectives went on, or runs much faster than clocks do.
//   It stays, and no error is claimed. If clocks with offsets that the user gave contradict all
//   others, those are the ones that were set.
// - no_common_collective: files have collectives, but none in common with the reference, although
//   they are of its run, and nothing better than a base time places them.
// - vague_collectives: the same of files that a clock sync places or that are of another run; or
//   collectives contradict each other all the time and do not name their group, so they may belong
//   to several.
void align_by_collectives(const ClockedFiles& files, const ClockOptions& options);

}  // namespace traceloom
