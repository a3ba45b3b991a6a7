// MergeFilter: which part of the inputs a merge keeps.
//
//   MergeOptions options;
//   options.filter.ranks = {{0, 3}};
//   options.filter.labels.excluded_categories = {"python_function"};
//
// The result is what the same filter would leave of the unfiltered merge: same clocks, same time 0,
// same tids and ids. An event stays if all parts of the filter accept it:
//
//   ranks         its rank is one of these. Files of other ranks are read once, for their clocks,
//                 and not written
//   time, steps   it begins then. Time counts from the earliest event of all ranks, floored to a
//                 microsecond as time 0 of a merge is; a step is that of the event's own rank
//   labels        its name and category are wanted; those of a pair of B and E are the B's
//   min_duration  it lasts so long, if it is an X or a pair of B and E; other events do not last
//                 and are not judged
//
// Events that belong together stay together:
//
// - An end (e, F) of an async operation stays if its begin does, and so does a step (T, p).
// - An E stays if its B does.
// - A flow event (s, t, f) stays if the slice stays that it is bound to (as viewers do it:
//   flow_binder.h), its own name and category do not exclude it, and its arrow keeps its start and
//   another end (if it has them). A flow event that is bound to no slice is judged by its own time,
//   name and category.
// - Each end of an arrow from file to file (PlanOptions::shared_flows) stays with its own slice
//   alone.
// - Metadata stays with its rank, and names stay with rows that have events.
#pragma once

#include "select/label_filter.h"
#include "select/number_range.h"
#include "select/step_selection.h"
#include "select/time_selection.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

struct MergeFilter {
  std::vector<NumberRange> ranks;  // empty: all
  std::optional<TimeSelection> time;
  std::optional<StepSelection> steps;
  LabelFilter labels;
  std::int64_t min_duration_ns = 0;

  bool any() const { return !ranks.empty() || picks_events(); }
  // True if more is asked for than whole ranks.
  bool picks_events() const { return time || steps || !labels.empty() || min_duration_ns > 0; }
};

}  // namespace traceloom
