// `trace-stats steps`: splits each step's time into roles.
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"

namespace traceloom {

struct StepsOptions {
  bool raw = false;  // add columns of roles by themselves, which overlap
};

// JSON: "rows": [{"rank","step","epoch","total_ns","kernel_ns","memcpy_ns","memset_ns",
// "communication_ns","runtime_ns","dataloader_ns","cpu_ns","host_code_ns","other_ns","counted"}],
// with raw also "raw_kernel_ns" and so on; "summary": the same for all steps of a rank as mean,
// p50, p99 and max, with "statistic"; "shares": [{"rank","role","share"}] of the mean step; "mean":
// [{"role","mean_ns","share"}] of all ranks together (mean_basis()), if there are several.
//
// "counted" is false for the tail (run/steps.h). For an inference engine all rows have a "kind",
// prefill or decode, and the means are "mean_prefill" and "mean_decode".
Report steps_report(const Run& run, const StepsOptions& options);

// Shows each role in a mean step, and its share of all time of the steps.
Table roles_table(const StepSum& steps);

// Notes what is missing from the steps of a run, for any report about them.
void note_missing(const Run& run, Report& report);

}  // namespace traceloom
