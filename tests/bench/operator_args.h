// The inputs of an operator as torch's profiler records them: concrete values, types, strides,
// shapes.
#pragma once

#include "bench/text_output.h"

#include <cstdint>
#include <string_view>

namespace traceloom::bench {

struct TensorSizes {
  std::int64_t sequence_length;
  std::int64_t layers;
};

// A letter an input: T the layer's tokens, M the same as a matrix, F inside of its MLP, H split
// into heads, P a pair of those, W weights, N a vector, G a tensor of each of the model's weights,
// s a number, L a list of numbers, n none.
void write_inputs(TextOutput& out, std::string_view inputs, const TensorSizes& sizes);

}  // namespace traceloom::bench
