// match_rounds: finds the collectives and messages of different files that are the same.
//
//   std::vector<CollectiveRound> rounds = match_rounds({{0, "", &marks0, &times0}, ...});
//   fit_clocks(files, 0, middle_ns, rounds);
//
// Collectives are matched by group (name, description and ranks), kind and Seq. Without a Seq they
// are matched by kind, size and order, in files with the same number of them. Messages are matched
// by order, from one rank to another.
#pragma once

#include "clock/collective_rounds.h"
#include "clock/time_map.h"
#include "identity/evidence/collective_marks.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct MarkedFile {
  std::int64_t rank = 0;
  std::string cycle = {};  // only files of one cycle can share rounds
  const CollectiveMarks* marks = nullptr;
  const TimeMap* times = nullptr;  // maps to the time of the rounds
  // That share a clock: only their collectives with a Seq count, those of one number as one.
  bool has_several_ranks = false;
};

// RoundPart::clock is an index into `files`. No round has only one part.
std::vector<CollectiveRound> match_rounds(const std::vector<MarkedFile>& files);

}  // namespace traceloom
