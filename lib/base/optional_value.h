// keep_first, keep_least: keep one of the values that several sources may give.
//
//   std::optional<std::int64_t> bound_us;
//   for (const ClockFacts& file : files) keep_least(bound_us, file.error_bound_us);
#pragma once

#include <optional>

namespace traceloom {

template <class Value>
void keep_first(std::optional<Value>& kept, const std::optional<Value>& later) {
  if (!kept) kept = later;
}

template <class Value>
void keep_least(std::optional<Value>& kept, const std::optional<Value>& other) {
  if (other && (!kept || *other < *kept)) kept = other;
}

}  // namespace traceloom
