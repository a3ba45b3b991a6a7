// MergeFilter: which part of the inputs a merge is to keep.
//
//   MergeOptions options;
//   options.filter.ranks = {{0, 3}};
//   options.filter.labels.excluded_categories = {"python_function"};
//
// The result is what the same filter would leave of the unfiltered merge: same clocks, same time 0,
// same tids and ids. What each part means for an event:
//
//   ranks         the rank has to be one of these. Files of other ranks are read once, for their
//                 clocks, and not written
//   time, steps   it has to begin then. Time counts from the earliest event of all ranks, floored
//                 to a microsecond as time 0 of a merge is; a step is that of the event's own rank
//   labels        its name and category; those of a pair of B and E are the B's
//   min_duration  X events and pairs of B and E have to last so long; all others do not last
//
// Events that belong together stay together. An end (e, F) of an async operation stays if its
// beginning does (so does a step, T or p); an E if its B does. A flow event (s, t, f) stays if the
// slice does that it is bound to (as viewers do it: flow_binder.h), what it is called itself does
// not exclude it, and its arrow keeps its start and another end (if it has them); one that is bound
// to no slice goes by its own time, name and category. Of an arrow from file to file
// (PlanOptions::shared_flows) each end stays by its own slice alone. Metadata stays with its rank,
// names with rows that have events.
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
  std::vector<NumberRange> ranks;  // none: all
  std::optional<TimeSelection> time;
  std::optional<StepSelection> steps;
  LabelFilter labels;
  std::int64_t min_duration_ns = 0;

  bool any() const { return !ranks.empty() || picks_events(); }
  // More is asked for than whole ranks.
  bool picks_events() const { return time || steps || !labels.empty() || min_duration_ns > 0; }
};

}  // namespace traceloom
