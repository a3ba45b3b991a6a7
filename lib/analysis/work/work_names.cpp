#include "analysis/work/work_names.h"

#include "base/ascii.h"
#include "run/event_class.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace traceloom {
namespace {

// An outermost group, from '(' to ')'.
struct Group {
  std::size_t from = std::string_view::npos;
  std::size_t to = std::string_view::npos;  // npos if the name ends before
};

Group last_group(std::string_view name) {
  Group last;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(' && depth++ == 0) last = {i, std::string_view::npos};
    if (name[i] == ')' && depth > 0 && --depth == 0) last.to = i;
  }
  return last;
}

// True for "operator()", which is a name itself; nvcc writes it with a space.
bool is_call_operator(std::string_view before, std::string_view arguments) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  return arguments == "()" && before.ends_with("operator");
}

// After the arguments of a function comes nothing, "const", or an addition of a compiler: "[clone
// .kd]". Any other text means that the group is inside a scope or template arguments.
bool are_arguments(std::string_view before, std::string_view group, std::string_view behind) {
  if (before.empty() || group.starts_with("(anonymous")) return false;
  if (is_call_operator(before, group)) return false;
  return behind.empty() || behind.starts_with(" const") || behind.starts_with(" [");
}

}  // namespace

std::string_view kernel_name(std::string_view name) {
  const Group group = last_group(name);
  if (group.from == std::string_view::npos) return name;
  const std::size_t end = group.to == std::string_view::npos ? name.size() : group.to + 1;
  std::string_view before = name.substr(0, group.from);
  if (!are_arguments(before, name.substr(group.from, end - group.from), name.substr(end)))
    return name;
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before;
}

namespace {

// HLO writes all-reduce, other producers all_reduce.
bool has(std::string_view name, std::string_view part) {
  const auto is_same = [](char any, char lower) {
    return (any == '-' ? '_' : to_lower(any)) == lower;
  };
  return std::search(name.begin(), name.end(), part.begin(), part.end(), is_same) != name.end();
}

}  // namespace

bool is_all_reduce(std::string_view name) {
  return has(name, "allreduce") || has(name, "all_reduce");
}

bool is_gather(std::string_view name) {
  return has(name, "allgather") || has(name, "all_gather");
}

bool is_broadcast(std::string_view name) {
  return has(name, "broadcast");
}

bool is_reduce_scatter(std::string_view name) {
  return has(name, "reduce_scatter") || has(name, "reducescatter");
}

bool is_all_to_all(std::string_view name) {
  return has(name, "alltoall") || has(name, "all_to_all");
}

bool is_in_parts(std::string_view name) {
  return is_gather(name) || is_reduce_scatter(name) || is_all_to_all(name);
}

bool has_root(std::string_view name) {
  return has(name, "broadcast") || has(name, "reduce") || has(name, "gather") ||
         has(name, "scatter");
}

bool is_point_to_point(std::string_view name) {
  return has(name, "send") || has(name, "recv") || has(name, "receive");
}

bool is_send(std::string_view name) {
  return has(name, "send") && !has(name, "recv") && !has(name, "receive");
}

bool is_receive(std::string_view name) {
  return (has(name, "recv") || has(name, "receive")) && !has(name, "send");
}

bool says_what_it_does(std::string_view name) {
  return is_in_parts(name) || has_root(name) || is_send(name) || is_receive(name);
}

bool works_on_host(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("shm:");
}

double bus_factor(std::string_view name, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (ranks < 2) return 1;
  if (is_all_reduce(name)) return 2 * (n - 1) / n;
  if (is_in_parts(name)) return (n - 1) / n;
  return 1;
}

namespace {

// A type of work, and the parts of names, or whole names, that show it, in lower case.
struct TypeWords {
  WorkType type;
  std::initializer_list<std::string_view> words;
};

// Parts of the names of operators; the first match is used.
const TypeWords kOpParts[] = {
    {WorkType::communication,
     {"c10d::", "_c10d_functional::", "record_param_comms", "nccl:", "gloo:"}},
    {WorkType::attention, {"attention", "flash_attn", "flashattn", "fmha"}},
    {WorkType::norm,
     {"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "layernorm",
      "rmsnorm"}},
    {WorkType::conv,
     {"convolution", "conv1d", "conv2d", "conv3d", "conv_transpose", "conv_tbc", "conv_depthwise",
      "convbias"}},
    {WorkType::gemm, {"gemm", "matmul", "scaled_mm", "multi_dot"}},
    {WorkType::multi_tensor, {"_foreach_", "_fused_adam", "_fused_sgd"}},
};

// Whole names of torch's operators, after "aten::".
const TypeWords kOpNames[] = {
    {WorkType::gemm,
     {"mm", "addmm", "bmm", "baddbmm", "addbmm", "linear", "mv", "addmv", "addr", "_int_mm",
      "dot"}},
    {WorkType::reduce, {"sum", "mean", "max", "min", "norm", "all", "any", "std", "var"}},
};

// Parts of the names of kernels and copies. Convolutions have names like multiplications.
const TypeWords kKernelParts[] = {
    {WorkType::memory, {"memcpy", "memset"}},
    {WorkType::multi_tensor, {"multi_tensor_apply"}},
    {WorkType::attention, {"flash_fwd", "flash_bwd", "flash_attn", "fmha", "attn_", "attention"}},
    {WorkType::norm,
     {"layer_norm", "batch_norm", "group_norm", "rms_norm", "rmsnorm", "bn_fw", "bn_bw"}},
    {WorkType::gemm, {"splitkreduce"}},
    {WorkType::conv,
     {"implicit_gemm", "igemm_", "fprop", "dgrad", "wgrad", "convolve", "scudnn", "winograd"}},
    {WorkType::gemm, {"gemm", "gemv", "cijk_", "nvjet"}},
    {WorkType::elementwise, {"elementwise"}},
    {WorkType::reduce, {"reduce"}},
};

// Parts of names that mean backward, for the types that distinguish it.
constexpr std::string_view kBackward[] = {"backward", "_bwd",  "bwd_",  "bn_bw",
                                          "dgrad",    "wgrad", "_wrw_", "flash_bwd"};

// Returns the type of the first row that has such a word.
template <std::size_t kRows, typename IsWord>
std::optional<WorkType> find_type(const TypeWords (&rows)[kRows], IsWord is_word) {
  for (const TypeWords& row : rows)
    if (std::any_of(row.words.begin(), row.words.end(), is_word)) return row.type;
  return std::nullopt;
}

template <std::size_t kRows>
std::optional<WorkType> find_part(const TypeWords (&rows)[kRows], std::string_view name) {
  return find_type(rows, [&](std::string_view part) { return name.find(part) != name.npos; });
}

// Returns "add" for "aten::add_", since an operator in place does the same work.
std::string_view base_name(std::string_view op) {
  if (op.starts_with("aten::")) op.remove_prefix(6);
  if (op.ends_with('_')) op.remove_suffix(1);
  return op;
}

std::optional<WorkType> op_type(std::string_view op) {
  if (op.starts_with("triton_")) return WorkType::triton;
  if (const std::optional<WorkType> type = find_part(kOpParts, op)) return type;
  const std::string_view name = base_name(op);
  return find_type(kOpNames, [&](std::string_view word) { return word == name; });
}

std::optional<WorkType> kernel_type(std::string_view kernel) {
  if (is_communication_kernel(kernel)) return WorkType::communication;
  if (kernel.starts_with("triton_")) return WorkType::triton;
  return find_part(kKernelParts, kernel);
}

WorkType with_direction(WorkType type, std::string_view name) {
  if (!has_any(kBackward, name)) return type;
  if (type == WorkType::conv) return WorkType::conv_bwd;
  if (type == WorkType::attention) return WorkType::attention_bwd;
  return type == WorkType::norm ? WorkType::norm_bwd : type;
}

}  // namespace

WorkType work_type(std::string_view op, std::string_view kernel) {
  const std::string lower_op = to_lower(op);
  if (const std::optional<WorkType> type = op_type(lower_op))
    return with_direction(*type, lower_op);
  const std::string lower_kernel = to_lower(kernel);
  if (const std::optional<WorkType> type = kernel_type(lower_kernel))
    return with_direction(*type, lower_kernel);
  return WorkType::other;
}

namespace {

// Parts of names in lower case. The first list that has one of a name's parts is used, in this
// order.
constexpr std::string_view kElementwiseParts[] = {
    "subtensorop", "optensor", "elementwise", "batched_transpose", "transpose_nchw", "multi_tensor",
    "softmaxf", "softmaxb", "softmax_warp", "layer_norm", "batch_norm", "reduce_kernel",
    "splitkreduce", "memcpy", "memset", "triton_poi", "triton_red", "triton_per",
    // what stands before and after a flash attention's backward kernel, and after a split one
    "bwdpreprocess", "bwdpostprocess", "flash_bwd_dot_do_o", "flash_bwd_convert",
    "splitkv_combine"};
constexpr std::string_view kTensorParts[] = {
    // NVIDIA, up to Ampere: the parts that tb_plugin uses
    "h884", "s884", "h1688", "s1688", "c1688", "hmma", "i8816", "16816", "16832", "161616",
    "xmma_gemm", "xmma_sparse", "xmma_conv", "xmma_implicit_gemm", "xmma_warp_specialized",
    "xmma_fprop", "xmma_dgrad", "xmma_wgrad", "conv1x1", "conv2d_c1_k1", "direct_group",
    "first_layer_wgrad", "dgrad_1x1_stride_2x2", "sm80_xmma", "tensorop", "bf16gemm",
    // NVIDIA, since Hopper
    "wgmma", "gmma", "sm90_xmma", "sm100_xmma", "nvjet", "flashattn", "flash_fwd", "flash_bwd",
    "flash::compute_attn", "fmhasm", "deep_gemm", "tcgen05", "bmm_mxe4m3", "bmm_bfloat16",
    "bmm_e4m3",
    // AMD: MFMA of Composable Kernel, MIOpen and Tensile
    "xdl", "gtcx", "mfma", "mi16x16", "mi32x32", "mi4x4", "fmhafwd", "fmhabwd", "fmhabatchprefill"};
constexpr std::string_view kCompiledRegions[] = {"Torch-Compiled Region", "CompiledFxGraph"};
constexpr std::string_view kEightBits[] = {"fp8", "e4m3", "e5m2"};
constexpr std::string_view kPlainParts[] = {"sgemm",    "dgemm",
                                            "simt",     "scudnn",
                                            "gemv",     "gemmk1",
                                            "gemmsn",   "f32f32_f32f32_f32",
                                            "winograd", "implicit_convolve_sgemm",
                                            "depthwise"};

}  // namespace

bool is_compiled_region(std::string_view name) {
  return has_any(kCompiledRegions, name);
}

std::optional<bool> uses_tensor_cores(std::string_view kernel) {
  const std::string lower = to_lower(kernel);
  if (has_any(kElementwiseParts, lower) || is_communication_kernel(kernel)) return false;
  // FFMA multiplies without tensor cores, in kernels that otherwise have the names of those with.
  if (lower.find("ffma") != std::string::npos) return false;
  if (has_any(kTensorParts, lower)) return true;
  // Only tensor cores multiply numbers of 8 bits.
  if (has_any(kEightBits, lower) && lower.find("gemm") != std::string::npos) return true;
  if (has_any(kPlainParts, lower)) return false;
  // Tensile puts the instruction into the name if it is one for matrices.
  if (lower.find("cijk_") != std::string::npos && lower.find("_mt") != std::string::npos)
    return false;
  const std::optional<WorkType> type = kernel_type(lower);
  const bool never_multiplies = type == WorkType::elementwise || type == WorkType::reduce ||
                                type == WorkType::norm || type == WorkType::memory ||
                                type == WorkType::multi_tensor;
  return never_multiplies ? std::optional(false) : std::nullopt;
}

bool may_use_tensor_cores(std::string_view op) {
  const WorkType type = work_type(op, "");
  return type == WorkType::gemm || type == WorkType::conv || type == WorkType::conv_bwd;
}

}  // namespace traceloom
