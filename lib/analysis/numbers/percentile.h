// Percentiles as everywhere here: nearest rank, so that each is a value that was measured.
//
//   std::int64_t p99 = percentile(values, 99);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// The least value that `percent` (1 to 100) of the values lie below or at; 0 when there are none.
template <typename Number>
Number percentile(std::vector<Number> values, std::size_t percent) {
  if (values.empty()) return 0;
  const std::size_t place = (values.size() * percent + 99) / 100 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

__extension__ typedef __int128 Int128;

// Halves up; 0 when there are none.
inline std::int64_t mean(const std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  Int128 sum = 0;  // of times that a file may say are as long as can be
  for (const std::int64_t value : values) sum += value;
  const auto count = static_cast<Int128>(values.size());
  return static_cast<std::int64_t>((2 * sum + count) / (2 * count));
}

}  // namespace traceloom
