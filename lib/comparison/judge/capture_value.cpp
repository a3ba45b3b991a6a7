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

bool are_of_one_capture(const std::vector<std::int64_t>& some,
                        const std::vector<std::int64_t>& others) {
  const auto differs = [&](std::int64_t ns) { return ns != some.front(); };
  return some == others && std::any_of(some.begin(), some.end(), differs);
}

std::size_t count_slow_steps(const std::vector<std::int64_t>& steps_ns) {
  if (steps_ns.size() < 2) return 0;
  std::vector<std::int64_t> sorted(steps_ns.begin() + 1, steps_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t median = sorted[(sorted.size() - 1) / 2];
  const auto is_slow = [&](std::int64_t ns) { return ns - median >= median / 2 && ns > median; };
  return static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), is_slow));
}

}  // namespace traceloom
