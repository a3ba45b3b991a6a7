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

// When a step begins.
struct StepStart {
  std::int64_t begin_ns = 0;
  std::int64_t number = 0;
};

// Both belong to it.
struct StepSelection {
  std::optional<std::int64_t> first;  // none: from the beginning, what is before the first step too
  std::optional<std::int64_t> last;   // none: to the end

  // "3:5", ":5", "3:" or "3" (that one) -> selection; nullopt when it is none of these, or ends
  // before it begins.
  static std::optional<StepSelection> parse(std::string_view text);

  bool contains(std::int64_t number) const {
    return (!first || number >= *first) && (!last || number <= *last);
  }
  // The times of the steps in `starts`, which are all those of a rank in any order: a step lasts
  // until the next one begins, the last one to the end. Ascending, not adjacent.
  std::vector<TimeWindow> windows_of(std::vector<StepStart> starts) const;
};

}  // namespace traceloom
