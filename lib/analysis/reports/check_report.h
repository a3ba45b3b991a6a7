// `trace-stats check`: lists the problems of each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// Losses come first. `severity` is loss (something in the file is missing from the result), notice
// (repaired) or info; "error" means that the file could not be read.
struct CheckAnswer {
  Report report;
  bool has_loss = false;
};
CheckAnswer check_report(const Run& run);

}  // namespace traceloom
