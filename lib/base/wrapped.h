// wrapped_sum, wrapped_difference: arithmetic modulo 2^64, so that any two numbers have a sum and a
// difference, and each undoes the other.
//
//   wrapped_sum(b, wrapped_difference(a, b)) == a;      // for all a and b
#pragma once

#include <cstdint>

namespace traceloom {

inline std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace traceloom
