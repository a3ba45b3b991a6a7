// `trace-stats check`: what is wrong with each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// JSON: "rows": [{"file","severity","kind","count","first_offset","sentence"}], losses first;
// "verdict": {"files","with_loss","with_problems"}. `severity` is loss (something that the file
// said is missing), notice (repaired) or info; "error" is a file that could not be read.
struct CheckAnswer {
  Report report;
  bool has_loss = false;
};
CheckAnswer check_report(const Run& run);

}  // namespace traceloom
