// FilterFacts: what only a filter has to know of a file.
#pragma once

#include "base/string_table.h"
#include "merge/arrows/flow_binder.h"
#include "select/step_marks.h"

#include <vector>

namespace traceloom {

// Of one file, times as the file has them. Memory: 16 bytes for each place where a flow event
// stands, the steps.
struct FilterFacts {
  StringTable tracks;             // of the flow events, as TrackPlan::target() takes them
  std::vector<FlowPlace> places;  // their `row` is a number of `tracks`
  StepMarks steps;

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(tracks, places, steps);
  }
};

}  // namespace traceloom
