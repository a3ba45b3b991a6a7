// The collectives and messages that files have in common, and the files that these connect.
#pragma once

#include "clock/alignment.h"
#include "clock/collective_rounds.h"
#include "clock/time_map.h"
#include "identity/evidence/file_reading.h"
#include "identity/ranks/ranks.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// match_rounds: finds the collectives and messages of different files that are the same.
//
//   std::vector<CollectiveRound> rounds = match_rounds({{0, "", &marks0, &times0}, ...});
//   fit_clocks(files, 0, middle_ns, rounds);
//
// Collectives are matched by group (name, description and ranks), kind and Seq; where a rank has a
// Seq in several files, only in files of one cycle. Without a Seq they are matched by kind, size
// and order, in files with the same number of them. Messages are matched by order, from one rank to
// another.

struct MarkedFile {
  std::int64_t rank = 0;
  std::string cycle = {};  // only files of one cycle can share rounds whose numbers are repeated
  const CollectiveMarks* marks = nullptr;
  const TimeMap* times = nullptr;  // maps to the time of the rounds
  // That share a clock: only their collectives with a Seq count, those of one number as one.
  bool has_several_ranks = false;
};

// RoundPart::clock is an index into `files`. No round has only one part.
std::vector<CollectiveRound> match_rounds(const std::vector<MarkedFile>& files);

// find_islands: groups files that have collectives in common, directly or through other files, and
// the rounds that they share.
//
//   for (Island& island : find_islands(files)) use(island.files, fit(island, files));

// The reliability of a clock compared with collectives: a fixed clock is not moved.
enum class Standing : std::uint8_t { fixed, by_sync, absolute, unknown };

Standing standing_of(const FileClock& clock);

// All files and what is known of them; each vector has one entry a file.
struct ClockedFiles {
  const std::vector<InputReading>& files;
  const std::vector<FileRank>& ranks;
  const std::vector<ClockFacts>& facts;
  std::vector<FileClock>& clocks;

  std::size_t size() const { return files.size(); }
  const FileEvidence& evidence(std::size_t file) const { return files[file].reading.evidence; }
  const StartTimes& starts(std::size_t file) const { return files[file].reading.starts; }
  // Returns when its events are, on its clock at present.
  CommonTimes times(std::size_t file) const {
    return common_times(starts(file), clocks[file].times);
  }
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
