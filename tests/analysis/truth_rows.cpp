#include "truth_rows.h"

#include "hta_loading.h"
#include "support/run_texts.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

struct Difference {
  std::string metric;
  std::string trace;  // part of the path
  std::string where;  // a part of the source, of the note or of the expected value
  std::string reason;
};

constexpr char kRounding[] = "HTA rounds times with parts of a microsecond, which shortens kernels";
constexpr char kNegative[] =
    "HTA rounds times, so that work of less than a microsecond lasts less than nothing";
constexpr char kTies[] =
    "of a launch and a begin in one microsecond HTA takes the one that its sort happens to give";
constexpr char kHostWork[] =
    "HTA takes an operator of the host that names a stream for device work";
constexpr char kSync[] = "HTA counts waits of the host (cuda_sync) as device work";
constexpr char kLastStep[] = "HTA leaves out the last step unless it is told not to";
constexpr char kFails[] = "HTA fails on parts of microseconds";
constexpr char kOther[] =
    "TraceLens has no line for aten::_flash_attention_forward and copies, and calls them other";
constexpr char kLinked[] =
    "TraceLens' total time leaves out device work whose launch was not recorded; the device did it";
constexpr char kNames[] =
    "the plugin counts the annotation around the optimizer as work of the CPU; it is a name, and "
    "between the operators in it nothing is recorded";
constexpr char kLast[] = "include_last_profiler_step=False";
constexpr char kAll[] = "include_last_profiler_step=True";

const std::vector<Difference>& differences() {
  static const std::vector<Difference> kDifferences{
      {"step_breakdown_us", "multi4_", "tb_plugin",
       "the plugin does not see ncclDevKernel_* as communication; the rows by hand beside it do"},
      {"step_breakdown_us", "tb_distributed_nccl_user_annotation", "tb_plugin",
       "without cpu ops the plugin's step has a length of -2^64; ours is the span that is there"},
      {"step_breakdown_avg_us", "tb_distributed_nccl_user_annotation", "tb_plugin",
       "as in step_breakdown_us"},
      {"step_breakdown_us", "resnet50_num_workers", "tb_plugin", kNames},
      {"step_breakdown_avg_us", "resnet50_num_workers", "tb_plugin", kNames},
      {"tracelens_gpu_timeline_ms", "Qwen1.5", "TraceLens",
       "TraceLens leaves out device work whose launch was not recorded; the device did it"},
      {"hta_temporal_breakdown", "nccl_parser", kLast, kLastStep},
      {"hta_temporal_breakdown", "sampled_rank", kLast, kLastStep},
      {"hta_temporal_breakdown", "resnet50", kLast, kLastStep},
      {"hta_temporal_breakdown", "nccl_parser", kAll, kRounding},
      {"hta_temporal_breakdown", "amd_trace", "HTA", kRounding},
      {"hta_temporal_breakdown", "bert-small", "HTA", kRounding},
      {"hta_temporal_breakdown", "triton_example", "HTA", kHostWork},
      {"hta_temporal_breakdown", "critical_path-", "HTA", kSync},
      {"hta_temporal_breakdown", "Qwen1.5", "HTA", kFails},
      {"hta_kernel_type_breakdown", "nccl_parser", kLast, kLastStep},
      {"hta_kernel_type_breakdown", "nccl_parser", kAll, kRounding},
      {"hta_kernel_type_breakdown", "sampled_rank", kLast, kLastStep},
      {"hta_kernel_type_breakdown", "resnet50", kLast, kLastStep},
      {"hta_kernel_type_breakdown", "amd_trace", "HTA", kRounding},
      {"hta_kernel_type_breakdown", "Qwen1.5", "HTA", kRounding},
      {"hta_kernel_type_breakdown", "bert-small", "HTA", kRounding},
      {"hta_kernel_type_breakdown", "triton_example", "HTA", kHostWork},
      {"hta_idle_time_breakdown", "nccl_parser", kLast, kLastStep},
      {"hta_idle_time_breakdown", "nccl_parser", kAll, kRounding},
      {"hta_idle_time_breakdown", "sampled_rank", kLast, kLastStep},
      {"hta_idle_time_breakdown", "resnet50", kLast, kLastStep},
      {"hta_idle_time_breakdown", "amd_trace", "HTA", kRounding},
      {"hta_idle_time_breakdown", "Qwen1.5", "HTA", kNegative},
      {"hta_idle_time_breakdown", "bert-small", "HTA", kRounding},
      {"hta_queue_length_summary", "nccl_parser", "HTA", kTies},
      {"hta_queue_length_summary", "sampled_rank", kLast, kLastStep},
      {"hta_queue_length_summary", "resnet50", "HTA", kTies},
      {"hta_queue_length_summary", "simple_add", "HTA", kTies},
      {"hta_queue_length_summary", "Qwen1.5", "HTA", kTies},
      {"hta_memory_bw_summary_gbps", "nccl_parser", kLast, kLastStep},
      {"hta_memory_bw_summary_gbps", "sampled_rank", kLast, kLastStep},
      {"hta_memory_bw_summary_gbps", "resnet50", kLast, kLastStep},
      {"hta_memory_bw_summary_gbps", "Qwen1.5", "HTA", kNegative},
      {"hta_launch_stats", "nccl_parser", kLast, kLastStep},
      {"hta_launch_stats", "nccl_parser", kAll, kRounding},
      {"hta_launch_stats", "sampled_rank", kLast, kLastStep},
      {"hta_launch_stats", "resnet50", kLast, kLastStep},
      {"hta_launch_stats", "Qwen1.5", "HTA", kNegative},
      {"hta_launch_stats", "bert-small", "HTA", kRounding},
      {"hta_potential_stragglers", "multi4", "HTA",
       "HTA does not know ncclDevKernel_* and fails; ours compares the ranks"},
      {"hta_potential_stragglers", "sampled_rank", "HTA",
       "HTA takes the rank whose last long collective begins later, by clocks that do not agree "
       "here; by how long each took that both ranks have, they wait 11 ms a step for rank 0 and "
       "6 ms for rank 1"},
      {"hta_critical_path", "simple_add", "HTA",
       "a graph of what waits for what is no command of trace-stats: bottleneck and stragglers "
       "judge "
       "a step by the rank that takes longest in it"},
      {"hta_cupti_kernels", "cupti_profiler", "HTA",
       "the trace has ranges of hardware counters in place of kernels; kernels measured one by "
       "one, "
       "each run several times, are no device activity of the run"},
      {"hta_comm_comp_overlap_pct", "nccl_parser", kLast, kLastStep},
      {"hta_comm_comp_overlap_pct", "sampled_rank", kLast, kLastStep},
      {"hta_comm_comp_overlap_pct", "nccl_parser", kAll, kRounding},
      {"kernel_by_op_and_launch_config", "tb_runtime_called_by_profilerstep", "tb_plugin",
       "a step is no operator: what it launches itself is no operator's"},
      {"tracelens_ops_by_category", "traces/gpu/tracelens", "\"other\"", kOther},
      {"tracelens_ops_by_category", "Qwen1.5", "\"elementwise\"",
       "aten::arange runs an elementwise kernel, which is not named at::native: other for "
       "TraceLens"},
      {"tracelens_kernel_summary", "bert-small", "_flash_attention_forward", kOther},
      {"tracelens_kernel_summary", "torch_compile_triton", "_flash_attention_forward", kOther},
      {"tracelens_kernel_summary", "Qwen1.5", "TraceLens", kLinked},
      {"tracelens_short_kernels_lt_10us", "Qwen1.5", "TraceLens", kLinked},
      {"operator", "tb_distributed_gloo_gpu", "add_",
       "the plugin drops device work whose launch was not recorded; its External id names "
       "aten::add_"},
  };
  return kDifferences;
}

}  // namespace

std::string deliberate_difference(const TruthRow& row) {
  for (const Difference& difference : differences())
    if (difference.metric == row.metric &&
        row.traces.front().find(difference.trace) != std::string::npos &&
        (row.source + " " + row.note + " " + oracle::canonical_text(row.expected))
                .find(difference.where) != std::string::npos)
      return difference.reason;
  return "";
}

std::string unexplained_difference(const TruthRow& row) {
  const std::string reason = deliberate_difference(row);
  if (reason == kTies) return check_hta_queue_with_ties(as_hta_loads(row));
  if (reason != kRounding && reason != kLastStep) return "";
  return truth_checks().at(row.metric)(as_hta_loads(row));
}

double number_of(const oracle::Json& object, const std::string& key, double otherwise) {
  const oracle::Json* const value = object.find(key);
  return value == nullptr || value->kind == oracle::Json::Kind::null ? otherwise
                                                                     : std::stod(value->text);
}

const Run& run_of(const TruthRow& row, const RunRequest& request) {
  using RunKey = std::tuple<std::vector<std::string>, bool, bool, bool>;
  static RunKey kept_key;
  static std::optional<Run> kept;
  RunKey key{row.traces, request.details, request.arguments, request.samples};
  if (!kept || key != kept_key) {
    kept.emplace(read_paths(row.traces, request));
    kept_key = std::move(key);
  }
  return *kept;
}

std::string text_of_key(const oracle::Json& object, const std::string& key) {
  const oracle::Json* const value = object.find(key);
  return value == nullptr ? "" : value->text;
}

std::string compare(const TruthRow& row, const std::string& key, double found, double expected) {
  // Doubles that went through a division are not equal to the last bit.
  const double allowed = std::max(row.tolerance, 1e-9) * std::max(1.0, std::abs(expected));
  if (std::abs(found - expected) <= allowed) return "";
  return fmt::format("{}: {} and not {}; ", key, found, expected);
}

const std::map<std::string, TruthCheck>& truth_checks() {
  static const std::map<std::string, TruthCheck> kChecks{
      {"step_breakdown_us", check_step_breakdown},
      {"step_breakdown_avg_us", check_step_breakdown_average},
      {"gpu_metrics", check_gpu_metrics},
      {"gpu_metrics_text", check_gpu_metrics_text},
      {"tracelens_gpu_timeline_ms", check_tracelens_timeline},
      {"hta_temporal_breakdown", check_hta_breakdown},
      {"hta_comm_comp_overlap", check_hta_overlap},
      {"hta_comm_comp_overlap_pct", check_hta_overlap},
      {"hta_idle_time_breakdown", check_hta_idle},
      {"hta_queue_length_summary", check_hta_queue},
      {"hta_memory_bw_summary_gbps", check_hta_bandwidth},
      {"hta_launch_stats", check_hta_launches},
      {"hta_kernel_type_breakdown", check_hta_kernel_types},
      {"comm_comp_overlap_us", check_comm_overlap},
      {"composer_dataloader_share_pct", check_composer_share},
      {"recommendation_kinds", check_recommendations},
      {"kernel", check_kernel},
      {"kernel_by_op_and_launch_config", check_kernel_launch},
      {"kernel_table_size", check_kernel_table_size},
      {"operator", check_operator},
      {"operator_table_size", check_operator_table_size},
      {"operator_memory_bytes", check_operator_memory},
      {"comm_transfer_vs_sync_us", check_comm_transfer},
      {"comm_op", check_comm_op},
      {"composer_event_durations_us", check_composer_durations},
      {"composer_merge", check_composer_merge},
      {"hta_potential_stragglers", check_potential_stragglers},
      {"hta_critical_path", check_not_offered},
      {"hta_cupti_kernels", check_not_offered},
      {"collective", check_collective},
      {"nccl_implicit_sync", check_implicit_sync},
      {"straggler_summary", check_straggler_summary},
      {"tracelens_ops_by_category", check_tracelens_category},
      {"tracelens_ops_summary", check_tracelens_ops},
      {"tracelens_kernel_summary", check_tracelens_kernels},
      {"tracelens_short_kernels_lt_10us", check_tracelens_short},
      {"tensor_core", check_tensor_core},
      {"tensor_core_op", check_tensor_core_op},
  };
  return kChecks;
}

}  // namespace traceloom
