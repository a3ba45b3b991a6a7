// How far clocks may be ahead of each other by collectives and messages: all pairs of parts, all
// paths, nothing left out. Slow by design.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom::oracle {

struct Part {
  std::size_t clock = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Round {
  std::vector<Part> parts;  // of a message the sender, then the receiver
  bool is_message = false;
};

// Nothing is known of a clock beyond that.
inline constexpr std::int64_t kFar = std::int64_t{1} << 62;

// Of each clock the least and the most that it may be ahead of clock 0. The first is more than the
// second where rounds contradict each other.
std::vector<std::pair<std::int64_t, std::int64_t>> clock_bounds(std::size_t clocks,
                                                                const std::vector<Round>& rounds);

}  // namespace traceloom::oracle
