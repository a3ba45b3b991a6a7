// times_of_files, find_unrecorded: when a rank was recorded. Between two recordings nothing is
// known about the rank, so it does not count as idle there.
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

// Returns the time from the first to the last event of each file; overlapping times are united.
Intervals times_of_files(const std::vector<EventColumns>& parts, Recorded what);

// Returns the times at which nothing was recorded: between the files of a rank, and, for files that
// a merge has joined, between two steps of torch whose numbers are not consecutive. There it is the
// longest time without any event.
Intervals find_unrecorded(const std::vector<EventColumns>& parts, const StepList& steps);

// True if an interval of the set has instants in `window`.
bool holds_any(const Intervals& set, const Interval& window);

}  // namespace traceloom
