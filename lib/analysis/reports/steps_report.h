// `trace-stats steps`: splits each step's time into roles.
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"

namespace traceloom {

struct StepsOptions {
  bool raw = false;  // add columns of roles by themselves, which overlap
  // Only so many steps have a row, the longest.
  std::size_t most_rows = ~std::size_t{0};
};

// The table "summary" has statistics over all steps of a rank, "shares" and "mean" those of the
// mean step of a rank, and of all ranks together (mean_basis()).
//
// "counted" is false for the tail (run/steps.h). For an inference engine all rows have a "kind",
// prefill or decode, and the means are "mean_prefill" and "mean_decode".
Report steps_report(const Run& run, const StepsOptions& options);

// Shows each role in a mean step, and its share of all time of the steps.
Table roles_table(const StepSum& steps);

// Notes what is missing from the steps of a run, for any report about them.
void note_missing(const Run& run, Report& report);

}  // namespace traceloom
