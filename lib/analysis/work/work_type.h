// What kind of work an operator or a kernel does: "gemm", "attention", "elementwise", ...
//
//   work_type("aten::addmm", "cutlass_80_tensorop_bf16_s16816gemm")   // WorkType::gemm
//   work_type("", "ncclDevKernel_AllReduce_Sum_bf16")                 // WorkType::communication
//
// By name: the tables are in work_type.cpp, so that a new kind of work is a new line there.
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
  multi_tensor,  // optimizers and others that go over many tensors at once
  triton,
  elementwise,
  reduce,
  other,
};
std::string_view to_string(WorkType type);

// By the name of the operator if that tells, else by that of the kernel that it launched; either
// may be empty.
WorkType work_type(std::string_view op, std::string_view kernel);

// Whether a kernel multiplies on tensor cores (of AMD: matrix cores), by its name: what tb_plugin
// knows NVIDIA's kernels by, those of newer libraries, and AMD's. nullopt where it does not tell.
std::optional<bool> uses_tensor_cores(std::string_view kernel);

// Whether torch would do this operator on tensor cores if its numbers were of half precision.
bool may_use_tensor_cores(std::string_view op);

}  // namespace traceloom
