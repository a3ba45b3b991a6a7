// Arithmetic on numbers of files, which may be of any size or absent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace traceloom {

// Products of two numbers of 64 bits fit.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// Sums of times that saturate, because a file may claim times of any length.
//
//   add_to(total_ns, span_ns);                                 // at most the greatest int64
//
// A sum that does not fit is cut to the limit of int64 (292 years). So sums of any spans stay
// meaningful, and no command depends on how a number overflows.

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

// `b` is not negative.
inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return a > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

// sum = saturating_add(sum, ns)
inline void add_to(std::int64_t& sum, std::int64_t ns) {
  sum = saturating_add(sum, ns);
}

// wrapped_sum, wrapped_difference: arithmetic modulo 2^64, so that any two numbers have a sum and a
// difference, and each undoes the other.
//
//   wrapped_sum(b, wrapped_difference(a, b)) == a;      // for all a and b

inline std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Percentiles by the nearest rank, as everywhere here, so that each is a measured value.
//
//   std::int64_t p99 = percentile(values, 99);

// Returns the place in a list of `count` sorted values; `count` is not 0, `percent` is 1 to 100.
constexpr std::size_t percentile_place(std::size_t count, std::size_t percent) {
  return count / 100 * percent + (count % 100 * percent + 99) / 100 - 1;
}

// Returns the least value that at least `percent` of the values do not exceed; 0 if there are none.
template <typename Number>
Number percentile(std::vector<Number> values, std::size_t percent) {
  if (values.empty()) return 0;
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(percentile_place(values.size(), percent));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// keep_first, keep_least: keep one of the values that several sources may give.
//
//   std::optional<std::int64_t> bound_us;
//   for (const ClockFacts& file : files) keep_least(bound_us, file.error_bound_us);

template <class Value>
void keep_first(std::optional<Value>& kept, const std::optional<Value>& later) {
  if (!kept) kept = later;
}

template <class Value>
void keep_least(std::optional<Value>& kept, const std::optional<Value>& other) {
  if (other && (!kept || *other < *kept)) kept = other;
}

}  // namespace traceloom
