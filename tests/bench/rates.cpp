#include "rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace traceloom::bench {
namespace {

// True if both rates may be one: Newcombe's interval of their difference.
bool holds(const Hits& found, const Promise& promised) {
  const double rate = found.rate();
  const double expected = promised.percent / 100;
  const Interval own = wilson(rate, static_cast<double>(found.cases), kJudged);
  const Interval other = wilson(expected, promised.cases, kJudged);
  const double rounding = promised.percent < 10 ? 0.0005 : 0.005;
  if (rate > expected)
    return rate - expected - rounding <= std::hypot(rate - own.lower, other.upper - expected);
  return promised.is_most ||
         expected - rate - rounding <= std::hypot(own.upper - rate, expected - other.lower);
}

}  // namespace

Interval wilson(double rate, double n, double z) {
  const double middle = (rate + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

void print_rates_header() {
  fmt::print(
      "| setting | what | cases | rate | 95 % interval | promised | met |\n"
      "|:--|:--|--:|--:|--:|--:|:--|\n");
}

bool print_rate(const Rate& rate) {
  const bool is_met = holds(rate.found, rate.promised);
  const Interval bounds =
      wilson(rate.found.rate(), static_cast<double>(rate.found.cases), kPrinted);
  fmt::print("| {} | {} | {} | {:.1f} % | {:.1f}-{:.1f} % | {}{:.4g} % | {} |\n", rate.setting,
             rate.what, rate.found.cases, 100 * rate.found.rate(), 100 * bounds.lower,
             100 * bounds.upper, rate.promised.is_most ? "at most " : "", rate.promised.percent,
             is_met ? "yes" : "NO");
  return is_met;
}

}  // namespace traceloom::bench
