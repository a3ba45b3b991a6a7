// Which files have collectives in common, directly or by others, and what these say of their
// clocks.
//
//   for (Island& island : find_islands(files)) use(island.files, fit(island, files));
#pragma once

#include "clock/alignment.h"
#include "clock/collective_rounds.h"
#include "survey/file_evidence.h"
#include "survey/start_times.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// How sure a clock is beside collectives: those that are fixed stay where they are.
enum class Standing : std::uint8_t { fixed, by_sync, absolute, unknown };

Standing standing_of(const FileClock& clock);

// What is known of all files, one entry each.
struct ClockedFiles {
  const std::vector<FileEvidence>& evidence;
  const std::vector<StartTimes>& starts;
  const std::vector<ClockFacts>& facts;
  const std::vector<FileClock>& clocks;
};

struct Island {
  std::vector<std::size_t> files;       // one or more; the first is the reference
  std::vector<CollectiveRound> rounds;  // their clocks are indices into `files`
};

// Of files that have collectives and a clock; one of several ranks is one clock. The reference is
// that with the best clock, of those the one of the lowest rank and the first of it; and the first
// island is that of the best reference. Of several files of a rank those of one cycle are known by
// their order where all ranks have as many, and else by their names.
std::vector<Island> find_islands(const ClockedFiles& files);

// Whether all rounds say of which group they are: else they may be matched wrongly.
bool names_groups(const Island& island);

// Whether by `fits`, one a file of the island, a clock cannot be right, or the ends of the
// collectives come together to less than half of what they are apart now. Only the latter counts
// where rounds may be matched wrongly.
bool contradicts_clocks(const Island& island, const std::vector<CollectiveFit>& fits);

}  // namespace traceloom
