// `trace-stats check`: lists the problems of each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// JSON: "rows": [{"file","severity","kind","count","first_offset","sentence"}], losses first;
// "verdict": {"files","with_loss","with_problems"}. `severity` is loss (something in the file is
// missing from the result), notice (repaired) or info; "error" means that the file could not be
// read.
struct CheckAnswer {
  Report report;
  bool has_loss = false;
};
CheckAnswer check_report(const Run& run);

}  // namespace traceloom
