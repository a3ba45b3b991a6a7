// WorkType: the kind of work of an operator or a kernel: "gemm", "attention", "elementwise", ...
//
//   work_type("aten::addmm", "cutlass_80_tensorop_bf16_s16816gemm")   // WorkType::gemm
//   work_type("", "ncclDevKernel_AllReduce_Sum_bf16")                 // WorkType::communication
//
// Types are found by name. The tables are in work_type.cpp: a new kind of work is a new line there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

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
std::string_view to_string(WorkType type);

// Uses the name of the operator if it shows the type, otherwise that of the kernel that it
// launched. Either may be empty.
WorkType work_type(std::string_view op, std::string_view kernel);

// True if a kernel multiplies on tensor cores (AMD: matrix cores), by its name. It uses tb_plugin's
// names of NVIDIA's kernels, those of newer libraries, and AMD's. Returns nullopt if the name does
// not show it.
std::optional<bool> uses_tensor_cores(std::string_view kernel);

// True if torch would run this operator on tensor cores with numbers of half precision.
bool may_use_tensor_cores(std::string_view op);

}  // namespace traceloom
