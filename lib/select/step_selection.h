// StepSelection: some of the training steps of a run, and the times they take on a rank.
//
//   StepSelection selection = StepSelection::parse("3:5").value();      // steps 3, 4 and 5
//   std::vector<TimeWindow> windows = selection.windows_of(starts);
#pragma once

#include "select/time_selection.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// The start of a step on a rank.
struct StepStart {
  std::int64_t begin_ns = 0;
  std::int64_t number = 0;
};

// Both ends belong to the selection.
struct StepSelection {
  std::optional<std::int64_t> first;  // absent: from the beginning, including the time before the
                                      // first step
  std::optional<std::int64_t> last;   // absent: to the end

  // Parses "3:5", ":5", "3:" or "3" (that step only); nullopt if the text is none of these or ends
  // before it begins.
  static std::optional<StepSelection> parse(std::string_view text);

  bool contains(std::int64_t number) const {
    return (!first || number >= *first) && (!last || number <= *last);
  }
  // Returns the times of the selected steps. `starts` holds all steps of one rank in any order. A
  // step lasts until the next one begins, the last one to the end. The windows ascend and are not
  // adjacent.
  std::vector<TimeWindow> windows_of(std::vector<StepStart> starts) const;
};

}  // namespace traceloom
