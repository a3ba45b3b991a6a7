// slope_of: the slope of the straight line nearest to points, by least squares.
//
//   std::optional<double> bytes_per_step = slope_of({{1, 100}, {2, 110}, {3, 120}});   // 10
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace traceloom {

// Returns nullopt if all points have the same x, or if there are none.
inline std::optional<double> slope_of(const std::vector<std::pair<double, double>>& points) {
  double x_sum = 0;
  double y_sum = 0;
  for (const auto& [x, y] : points) {
    x_sum += x;
    y_sum += y;
  }
  const auto count = static_cast<double>(points.size());
  double above = 0;
  double below = 0;
  for (const auto& [x, y] : points) {
    above += (x - x_sum / count) * (y - y_sum / count);
    below += (x - x_sum / count) * (x - x_sum / count);
  }
  if (!(below > 0)) return std::nullopt;
  return above / below;
}

}  // namespace traceloom
