// Clocks of ranks that no sync has brought together, by the collectives and messages that they had
// in common.
//
//   align_by_collectives(evidence, starts, options, facts, clocks);     // in plan_clocks()
#pragma once

#include "clock/alignment.h"
#include "survey/file_evidence.h"
#include "survey/start_times.h"

#include <vector>

namespace traceloom {

// All vectors have one entry a file. Of files that say when their ranks took part in collectives (a
// merged file is moved as a whole): finds how far the clock of each is ahead of that of the lowest
// rank, or of one that has better evidence (ClockOptions::offsets, the rounds or the machine of our
// recorder, moments that files stamped), which stay where they are. FileClock::collectives says
// what was found, and error_ns and worst_error_ns how far the clock may be off that is taken.
//
// Where that contradicts the clock of a rank (a clock sync of one number, a base time), or where
// the ends of the collectives come together to less than half, and 10 us, by it, all ranks that
// have collectives in common with it go by them (ClockMethod::collectives), and other files of
// these ranks with them; else all stay as they are. Counted are
// - shifted_clock: of files that were moved for more than the ends are apart; told once for those
//   that were moved alike, and of the first one (shift_lines.h),
// - clock_conflict: of a clock that was set while collectives went on; it stays where it is, and
//   nothing is claimed of its error,
// - no_common_collective: of files with collectives none of which the others have, or that
//   contradict each other all the time and do not say their group: they may be of several.
void align_by_collectives(const std::vector<FileEvidence>& evidence,
                          const std::vector<StartTimes>& starts, const ClockOptions& options,
                          const std::vector<ClockFacts>& facts, std::vector<FileClock>& clocks);

}  // namespace traceloom
