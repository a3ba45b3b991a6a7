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
std::string check_hta_idle(const TruthRow& row);
std::string check_hta_queue(const TruthRow& row);
// The same, when launches and begins of one microsecond may be in any order.
std::string check_hta_queue_with_ties(const TruthRow& row);
std::string check_hta_bandwidth(const TruthRow& row);
std::string check_hta_launches(const TruthRow& row);
std::string check_hta_kernel_types(const TruthRow& row);
std::string check_comm_overlap(const TruthRow& row);
std::string check_composer_share(const TruthRow& row);
std::string check_recommendations(const TruthRow& row);
std::string check_kernel(const TruthRow& row);
std::string check_kernel_launch(const TruthRow& row);
std::string check_kernel_table_size(const TruthRow& row);
std::string check_operator(const TruthRow& row);
std::string check_operator_table_size(const TruthRow& row);
std::string check_operator_memory(const TruthRow& row);
std::string check_comm_transfer(const TruthRow& row);
std::string check_comm_op(const TruthRow& row);
std::string check_composer_durations(const TruthRow& row);
std::string check_composer_merge(const TruthRow& row);
std::string check_potential_stragglers(const TruthRow& row);
std::string check_not_offered(const TruthRow& row);
std::string check_collective(const TruthRow& row);
std::string check_implicit_sync(const TruthRow& row);
std::string check_straggler_summary(const TruthRow& row);
std::string check_tracelens_category(const TruthRow& row);
std::string check_tracelens_ops(const TruthRow& row);
std::string check_tracelens_kernels(const TruthRow& row);
std::string check_tracelens_short(const TruthRow& row);
std::string check_tensor_core(const TruthRow& row);
std::string check_tensor_core_op(const TruthRow& row);

}  // namespace traceloom
