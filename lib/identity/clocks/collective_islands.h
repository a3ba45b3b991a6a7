// find_islands: groups files that have collectives in common, directly or through other files, and
// the rounds that they share.
//
//   for (Island& island : find_islands(files)) use(island.files, fit(island, files));
#pragma once

#include "clock/alignment.h"
#include "clock/collective_rounds.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// The reliability of a clock compared with collectives: a fixed clock is not moved.
enum class Standing : std::uint8_t { fixed, by_sync, absolute, unknown };

Standing standing_of(const FileClock& clock);

// The facts about all files, one entry each.
struct ClockedFiles {
  const std::vector<FileEvidence>& evidence;
  const std::vector<StartTimes>& starts;
  const std::vector<ClockFacts>& facts;
  const std::vector<FileClock>& clocks;
};

struct Island {
  std::vector<std::size_t> files;       // at least one; the first is the reference
  std::vector<CollectiveRound> rounds;  // their clocks are indices into `files`
};

// Uses files that have collectives and a clock; a file of several ranks has one clock. The
// reference is the file with the best clock; among equals, the lowest rank's first file. The island
// of the best reference comes first. If a rank has several files, files of one cycle are matched by
// their order if all ranks have the same number of files, otherwise by their names.
std::vector<Island> find_islands(const ClockedFiles& files);

// True if all rounds name their group; otherwise they may be matched wrongly.
bool names_groups(const Island& island);

// The median distance between the ends of a collective: at present, and if the clocks are moved.
struct EndSpread {
  std::int64_t now_ns = 0;
  std::int64_t then_ns = 0;
};
EndSpread end_spread(const Island& island, const std::vector<CollectiveFit>& fits);

// True if, according to `fits` (one a file of the island), a clock cannot be right, or the ends of
// the collectives come together to less than half of their present distance. If rounds may be
// matched wrongly, only the latter counts.
bool contradicts_clocks(const Island& island, const std::vector<CollectiveFit>& fits);

}  // namespace traceloom
