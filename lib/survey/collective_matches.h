// Which collectives and messages of different files are one and the same.
//
//   std::vector<CollectiveRound> rounds = match_rounds({{0, "", &marks0, &times0}, ...});
//   fit_clocks(files, 0, middle_ns, rounds);
//
// By group, that is its name, description and ranks, with kind and Seq; without a Seq by kind, size
// and order, on files that have as many of them. Messages by order, from one rank to another.
#pragma once

#include "clock/collective_rounds.h"
#include "clock/time_map.h"
#include "survey/collective_marks.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct MarkedFile {
  std::int64_t rank = 0;
  std::string cycle = {};  // only files of one can have anything in common
  const CollectiveMarks* marks = nullptr;
  const TimeMap* times = nullptr;  // to the time of the rounds
  // That share a clock: only their collectives with a Seq count, those of one number as one.
  bool has_several_ranks = false;
};

// RoundPart::clock is an index into `files`. None of one part.
std::vector<CollectiveRound> match_rounds(const std::vector<MarkedFile>& files);

}  // namespace traceloom
