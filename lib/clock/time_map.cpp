#include "clock/time_map.h"

#include <limits>

namespace traceloom {
namespace {

std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

TimeMap TimeMap::since(std::int64_t origin_ns) const {
  return {difference(shift_ns_[0], origin_ns), difference(shift_ns_[1], origin_ns)};
}

}  // namespace traceloom
