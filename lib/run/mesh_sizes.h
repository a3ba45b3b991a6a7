// MeshSizes: how many ranks share the work along each axis, as a user gives it.
#pragma once

#include <cstdint>

namespace traceloom {

// 0: not given.
struct MeshSizes {
  std::int64_t tensor = 0;
  std::int64_t context = 0;
  std::int64_t expert = 0;
  std::int64_t data = 0;
  std::int64_t stages = 0;

  friend bool operator==(const MeshSizes&, const MeshSizes&) = default;
};

}  // namespace traceloom
