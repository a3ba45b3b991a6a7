// The operators of a layer of the model whose traces are generated, in the order and the nesting in
// which torch's profiler records them.
#pragma once

#include <span>
#include <string_view>

namespace traceloom::bench {

// The kind of work that an operation itself starts on the device.
enum class Kernel { none, gemm, elementwise, reduce, copy, attention, memset };

// The role of an operation in autograd: an arrow leads from it to its node, or ends at it.
enum class Autograd { none, forward, node };

struct Operation {
  int depth;  // it is inside of the last one before it with a smaller depth
  std::string_view name;
  std::string_view inputs;  // a letter each, see write_inputs()
  Kernel kernel = Kernel::none;
  Autograd autograd = Autograd::none;
};

// Operations that belong together: forward, those of one call of a module.
struct Block {
  std::string_view module;
  std::span<const Operation> operations;
};

std::span<const Block> forward_blocks();
std::span<const Block> backward_blocks();  // every operation of depth 0 is a node of autograd
std::span<const Operation> optimizer_operations();

}  // namespace traceloom::bench
