// find_differences: what two sides do not have in common, besides their times.
//
//   for (const Difference& difference : find_differences(base, changed))
//     if (difference.forbids) fmt::print("{}\n", difference.text);
#pragma once

#include "comparison/captures/capture.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The differences that make times incomparable, unless the caller allows them.
inline constexpr std::array<std::string_view, 4> kForbidding{"ranks", "world-size", "devices",
                                                             "shapes"};

struct Difference {
  std::string_view key;  // one of kForbidding, or "producer", "python", "shapes-recorded"
  std::string text;      // "shapes: aten::mm has [[64, 32]] in base/c0, [[128, 32]] in new/c0"
  bool forbids = false;
};

// Compares the captures of each side with its first one, then both sides. Shapes differ if
// operators with more than half of the device time of those that both have were called with input
// shapes that the other capture does not have.
std::vector<Difference> find_differences(const std::vector<Capture>& base,
                                         const std::vector<Capture>& changed);

}  // namespace traceloom
