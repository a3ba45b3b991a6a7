// The names that occur in generated traces: hundreds of operators, kernels and Python frames.
#pragma once

#include <string>
#include <vector>

namespace traceloom::bench {

struct Names {
  std::vector<std::string> operators;  // "aten::addmm_out"
  std::vector<std::string> backwards;  // "AddmmBackward0", one an operator
  std::vector<std::string> kernels;    // C++ templates, up to some hundred characters
  std::vector<std::string> frames;     // "attention.py(171): forward"
  std::vector<std::string> modules;    // "nn.Module: DecoderLayer"
};

// Always the same.
Names make_names();

}  // namespace traceloom::bench
