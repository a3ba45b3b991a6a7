#include "digest/units.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace traceloom::digest {
namespace {

constexpr double kMostCount = 1099511627776;  // 2^40; a larger one would fit any number
constexpr std::size_t kLearned = 24;
constexpr unsigned kMostTrials = 4;

std::int64_t bits_of(double number) {
  return std::bit_cast<std::int64_t>(number);
}

// Euclid's algorithm; what is left below `least` is rounding.
double divisor_of(double a, double b, double least) {
  while (b > least) {
    const double rest = std::abs(a - b * std::round(a / b));
    a = b;
    b = rest;
  }
  return a;
}

// Returns how many of the numbers are exact multiples; 0 if one is none at all.
std::size_t exact_multiples(const std::vector<double>& numbers, double unit) {
  std::size_t exact = 1;
  for (const double number : numbers) {
    const std::optional<Multiple> multiple = multiple_of(number, unit);
    if (!multiple) return 0;
    if (multiple->ulps == 0) ++exact;
  }
  return exact;
}

}  // namespace

double number_of(const Multiple& multiple) {
  const double product = static_cast<double>(multiple.count) * multiple.unit;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(product) +
                               static_cast<std::uint64_t>(std::int64_t{multiple.ulps}));
}

std::optional<Multiple> multiple_of(double number, double unit) {
  const double count = std::round(number / unit);
  if (!(std::abs(count) >= 1 && std::abs(count) <= kMostCount)) return std::nullopt;
  const std::int64_t ulps = bits_of(number) - bits_of(count * unit);  // both have the same sign
  if (ulps < -kMostUlps || ulps > kMostUlps) return std::nullopt;
  return Multiple{unit, static_cast<std::int64_t>(count), static_cast<int>(ulps)};
}

std::optional<double> common_unit(std::vector<double> numbers) {
  constexpr double kRounding = 1e-9;
  for (double& number : numbers) number = std::abs(number);
  std::sort(numbers.begin(), numbers.end());
  if (numbers.empty() || numbers.front() == 0) return std::nullopt;
  double unit = numbers.front();
  for (const double number : numbers) unit = divisor_of(number, unit, kRounding * numbers.back());
  // The larger the number, the better it shows the unit.
  for (const double number : numbers) unit = number / std::max(1.0, std::round(number / unit));
  double best = 0;
  std::size_t most = 0;
  for (const double number : numbers) {
    const double near = number / std::max(1.0, std::round(number / unit));
    const std::size_t exact = exact_multiples(numbers, near);
    if (exact <= most) continue;
    most = exact;
    best = near;
  }
  return most > 0 ? std::optional(best) : std::nullopt;
}

std::optional<Multiple> Units::find(std::string_view key, double number) {
  auto found = states_.find(key);
  if (found == states_.end()) found = states_.try_emplace(std::string(key)).first;
  State& state = found->second;
  if (state.unit != 0)
    if (const std::optional<Multiple> multiple = multiple_of(number, state.unit)) return multiple;
  if (state.trials == kMostTrials) return std::nullopt;
  state.others.push_back(number);
  if (state.others.size() < kLearned) return std::nullopt;
  ++state.trials;
  const std::optional<double> unit = common_unit(std::move(state.others));
  state.others.clear();
  if (!unit) return std::nullopt;
  state.unit = *unit;
  return multiple_of(number, state.unit);
}

}  // namespace traceloom::digest
