// Sums of times that saturate, because a file may claim times of any length.
//
//   add_to(total_ns, span_ns);                                 // at most the greatest int64
//
// A sum that does not fit is cut to the limit of int64 (292 years). So sums of any spans stay
// meaningful, and no command depends on how a number overflows.
#pragma once

#include <cstdint>
#include <limits>

namespace traceloom {

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

inline std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return b < 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

// sum = saturating_add(sum, ns)
inline void add_to(std::int64_t& sum, std::int64_t ns) {
  sum = saturating_add(sum, ns);
}

}  // namespace traceloom
