// Percentiles by the nearest rank, as everywhere here, so that each is a measured value.
//
//   std::int64_t p99 = percentile(values, 99);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// Returns the least value that at least `percent` (1 to 100) of the values do not exceed; 0 if
// there are none.
template <typename Number>
Number percentile(std::vector<Number> values, std::size_t percent) {
  if (values.empty()) return 0;
  const std::size_t place = (values.size() * percent + 99) / 100 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

__extension__ typedef __int128 Int128;

// Rounds halves up; returns 0 if there are no values.
inline std::int64_t mean(const std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  Int128 sum = 0;  // wide, because a file may claim times of any length
  for (const std::int64_t value : values) sum += value;
  const auto count = static_cast<Int128>(values.size());
  return static_cast<std::int64_t>((2 * sum + count) / (2 * count));
}

}  // namespace traceloom
