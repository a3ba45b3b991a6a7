// One function a metric of the reference numbers.
#pragma once

#include "truth_rows.h"

#include <string>

namespace traceloom {

std::string check_step_breakdown(const TruthRow& row);
std::string check_step_breakdown_average(const TruthRow& row);
std::string check_gpu_metrics(const TruthRow& row);
std::string check_gpu_metrics_text(const TruthRow& row);
std::string check_tracelens_timeline(const TruthRow& row);
std::string check_hta_breakdown(const TruthRow& row);
std::string check_hta_overlap(const TruthRow& row);
std::string check_comm_overlap(const TruthRow& row);
std::string check_composer_share(const TruthRow& row);
std::string check_recommendations(const TruthRow& row);

}  // namespace traceloom
