#include "comparison/judge/capture_value.h"

#include <algorithm>
#include <numeric>

namespace traceloom {
namespace {

constexpr std::size_t kFifth = 5;

}  // namespace

std::vector<std::size_t> middle_steps(const std::vector<std::int64_t>& steps_ns) {
  if (steps_ns.size() < 2) return {};
  std::vector<std::size_t> rest(steps_ns.size() - 1);
  std::iota(rest.begin(), rest.end(), std::size_t{1});
  std::stable_sort(rest.begin(), rest.end(),
                   [&](std::size_t a, std::size_t b) { return steps_ns[a] < steps_ns[b]; });
  const auto cut = static_cast<std::ptrdiff_t>(rest.size() / kFifth);
  return {rest.begin() + cut, rest.end() - cut};
}

std::optional<double> capture_value(const std::vector<std::int64_t>& steps_ns) {
  if (steps_ns.size() < kLeastSteps + 1) return std::nullopt;
  const std::vector<std::size_t> kept = middle_steps(steps_ns);
  double sum = 0;
  for (const std::size_t step : kept) sum += static_cast<double>(steps_ns[step]);
  if (sum <= 0) return std::nullopt;
  return sum / static_cast<double>(kept.size());
}

}  // namespace traceloom
