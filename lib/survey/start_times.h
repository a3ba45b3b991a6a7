// StartTimes: when the events of a file begin (or end), in the file's own time; gathered event by
// event.
//
//   StartTimes starts;
//   starts.add(timing.start_ns);                        // any event but an E
//   if (starts.is_mixed()) ...
#pragma once

#include "clock/time_map.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace traceloom {

class StartTimes {
 public:
  void add(std::int64_t ns) {
    Range& range = ranges_[is_unix_time(ns) ? 1 : 0];
    range.first = std::min(range.first, ns);
    range.last = std::max(range.last, ns);
  }
  // Of an end event: it may be the last, but nothing begins with it.
  void add_end(std::int64_t ns) {
    Range& range = ranges_[is_unix_time(ns) ? 1 : 0];
    range.last = std::max(range.last, ns);
  }
  void add(const StartTimes& later) {
    for (int i = 0; i < 2; ++i) {
      ranges_[i].first = std::min(ranges_[i].first, later.ranges_[i].first);
      ranges_[i].last = std::max(ranges_[i].last, later.ranges_[i].last);
    }
  }

  struct Range {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  // also of an E

    bool empty() const { return first == std::numeric_limits<std::int64_t>::max(); }
  };
  // Times that are no Unix time by their size (TimeMap), and those that are.
  const Range& relative() const { return ranges_[0]; }
  const Range& unix_time() const { return ranges_[1]; }
  bool is_mixed() const { return !relative().empty() && !unix_time().empty(); }
  bool empty() const { return relative().empty() && unix_time().empty(); }
  // The earliest of all.
  std::optional<std::int64_t> first_ns() const {
    if (empty()) return std::nullopt;
    return std::min(relative().first, unix_time().first);
  }

  // The latest of all.
  std::optional<std::int64_t> last_ns() const {
    if (empty()) return std::nullopt;
    return std::max(relative().last, unix_time().last);
  }

 private:
  Range ranges_[2];
};

// When the events of a file are on the common clock.
struct CommonTimes {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  void add(std::int64_t ns) { add({ns, ns}); }
  void add(const CommonTimes& other) {
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
  }
  bool operator==(const CommonTimes&) const = default;
};

// What does not fit has no place in the output either, and is taken as it is.
inline CommonTimes common_times(const StartTimes& starts, const TimeMap& times) {
  CommonTimes common;
  for (const StartTimes::Range& range : {starts.relative(), starts.unix_time()}) {
    if (range.empty()) continue;
    times.for_each_bound(range.first, range.last,
                         [&](std::int64_t ns) { common.add(times.mapped_or_same(ns)); });
  }
  return common;
}

}  // namespace traceloom
