// Names of kernels, operators and collectives tell the type of their work.
#pragma once

#include "base/by_enum.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

// kernel_name: returns the name of a kernel without the arguments of its function.
//
//   kernel_name("void (anonymous namespace)::sum<float>(float*, int)")
//   == "void (anonymous namespace)::sum<float>"

// `name` is a C++ function as a demangler writes it, or any other text, which has no arguments.
// Arguments that are cut are left out as well.
std::string_view kernel_name(std::string_view name);

// Classifies collectives by name. Names come from torch ("nccl:all_reduce"), from its records
// ("allreduce"), from kernels ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)") and from HLO
// ("all-reduce.3").
//
//   is_all_reduce("ncclKernel_AllReduce_RING_LL_Sum_float") == true

bool is_all_reduce(std::string_view name);
// True if every rank receives the data of all others.
bool is_gather(std::string_view name);
bool is_all_to_all(std::string_view name);
// True if every rank receives a part from every other rank.
bool is_in_parts(std::string_view name);
bool is_reduce_scatter(std::string_view name);
bool is_broadcast(std::string_view name);
// True if one rank sends or receives all data.
bool has_root(std::string_view name);
// True for a message from one rank to another: the sender waits only for the receiver.
bool is_point_to_point(std::string_view name);
// A message is recorded at each of its ends.
bool is_send(std::string_view name);
bool is_receive(std::string_view name);
// False for kernels of NCCL that serve everything made of sends, or everything at all.
bool says_what_it_does(std::string_view name);
// True if a range of the host with that name lasts as long as the collective. NCCL and similar
// libraries only start work of devices in their ranges.
bool works_on_host(std::string_view name);

// Returns NCCL's ratio of bus bandwidth to algorithm bandwidth.
double bus_factor(std::string_view name, std::int64_t ranks);

// True if a name has any of some parts.
template <typename Parts>
bool has_any(const Parts& parts, std::string_view name) {
  for (const std::string_view part : parts)
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

// WorkType: the kind of work of an operator or a kernel: "gemm", "attention", "elementwise", ...
//
//   work_type("aten::addmm", "cutlass_80_tensorop_bf16_s16816gemm")   // WorkType::gemm
//   work_type("", "ncclDevKernel_AllReduce_Sum_bf16")                 // WorkType::communication
//
// Types are found by name. The tables are in work_names.cpp: a new kind of work is a new line
// there.

enum class WorkType : std::uint8_t {
  communication,
  memory,  // copies and fills by the device
  gemm,
  conv,
  conv_bwd,
  attention,
  attention_bwd,
  norm,
  norm_bwd,
  multi_tensor,  // optimizers and other kernels that process many tensors at once
  triton,
  elementwise,
  reduce,
  other,
};
constexpr std::string_view to_string(WorkType type) {
  return name_in(
      {"communication", "memory", "gemm", "conv", "conv_bwd", "attention", "attention_bwd", "norm",
       "norm_bwd", "multi_tensor", "triton", "elementwise", "reduce", "other"},
      type);
}

// Uses the name of the operator if it shows the type, otherwise that of the kernel that it
// launched. Either may be empty.
WorkType work_type(std::string_view op, std::string_view kernel);

// True if a kernel multiplies on tensor cores (AMD: matrix cores), by its name. It uses tb_plugin's
// names of NVIDIA's kernels, those of newer libraries, and AMD's. Returns nullopt if the name does
// not show it.
std::optional<bool> uses_tensor_cores(std::string_view kernel);

// True for a region of code that torch.compile made: "Torch-Compiled Region: 0/0".
bool is_compiled_region(std::string_view name);

// True if torch would run this operator on tensor cores with numbers of half precision.
bool may_use_tensor_cores(std::string_view op);

}  // namespace traceloom
