// When a rank was recorded. Between two recordings nothing is known of it: it is not idle there.
//
//   rank.unrecorded = find_unrecorded(rank.parts, rank.steps);
//   if (holds_any(rank.unrecorded, gap)) ...                    // two runs, and no gap of one
#pragma once

#include "run/event_columns.h"
#include "run/intervals.h"
#include "run/steps.h"

#include <cstdint>
#include <vector>

namespace traceloom {

enum class Recorded : std::uint8_t {
  host,    // hosts and operators
  device,  // devices and calls
  all,
};

// Each interval goes from the first to the last event of a file; those that overlap are one.
Intervals times_of_files(const std::vector<EventColumns>& parts, Recorded what);

// Nothing was recorded between the files of a rank. Where a merge has made one of them, steps of
// torch tell, whose numbers do not go on: the longest time between two such in which nothing was
// recorded.
Intervals find_unrecorded(const std::vector<EventColumns>& parts, const StepList& steps);

// True where an interval of the set has instants in `window`.
bool holds_any(const Intervals& set, const Interval& window);

}  // namespace traceloom
