// The names in generated traces, apart from those of operators: hundreds of kernels, Python
// functions and modules.
#pragma once

#include "bench/layer_program.h"

#include <array>
#include <string>
#include <vector>

namespace traceloom::bench {

struct Names {
  // names for each kind of Kernel; C++ templates of up to some hundred characters
  std::array<std::vector<std::string>, 7> kernels;
  std::vector<std::string> calls;      // "transformers/models/decoder.py(171): forward"
  std::vector<std::string> built_ins;  // "<built-in method rsqrt of type object at 0x7d6b7761df60>"

  const std::vector<std::string>& of(Kernel kernel) const {
    return kernels[static_cast<std::size_t>(kernel)];
  }
};

// Always the same.
Names make_names();

}  // namespace traceloom::bench
