// Bounds for the differences between clocks, from collectives and messages: it examines all pairs
// of parts and all paths. It is slow by design.
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
  std::vector<Part> parts;  // for a message: the sender, then the receiver
  bool is_message = false;
};

// Means that no bound is known.
inline constexpr std::int64_t kFar = std::int64_t{1} << 62;

// Returns for each clock the least and the greatest lead over clock 0. The first is greater than
// the second if rounds contradict each other.
std::vector<std::pair<std::int64_t, std::int64_t>> clock_bounds(std::size_t clocks,
                                                                const std::vector<Round>& rounds);

}  // namespace traceloom::oracle
