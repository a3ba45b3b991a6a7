// One function a metric of the reference numbers.
#pragma once

#include "truth_rows.h"

#include <string>

namespace traceloom {

std::string check_step_breakdown(const TruthRow& row);
std::string check_step_breakdown_average(const TruthRow& row);

}  // namespace traceloom
