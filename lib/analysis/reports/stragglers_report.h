// `trace-stats stragglers`: shows the rank for which the others wait, how often, how much, and why.
#pragma once

#include "analysis/report.h"
#include "run/run.h"

namespace traceloom {

Report stragglers_report(const Run& run);

}  // namespace traceloom
