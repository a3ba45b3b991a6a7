// Rates that a simulation found, beside those that were promised.
//
//   bool holds = print_rate({"sd 1 %, 3 captures", "found +5 %", counted, {.percent = 85}});
#pragma once

#include <cstddef>
#include <string>

namespace traceloom::bench {

// Quantiles of the normal distribution: for the interval that is printed, 95 %, and for the one
// that judges, 99.9 %, because of so many rates some miss by chance.
inline constexpr double kPrinted = 1.959963984540054;
inline constexpr double kJudged = 3.290526731491894;

struct Interval {
  double lower;
  double upper;
};

// Returns Wilson's interval of a rate found with `n` trials.
Interval wilson(double rate, double n, double z);

struct Hits {
  std::size_t hits = 0;
  std::size_t cases = 0;

  void add(bool is_hit) {
    ++cases;
    hits += is_hit ? 1 : 0;
  }
  double rate() const { return static_cast<double>(hits) / static_cast<double>(cases); }
};

// A promise was simulated as well, with `cases` of them, and rounded: to whole percents from 10 on,
// else to tenths.
struct Promise {
  double percent;
  bool is_most = false;  // a smaller rate holds, too: of false alarms
  double cases = 4000;
};

struct Rate {
  std::string setting;
  std::string what;
  Hits found;
  Promise promised;
};

void print_rates_header();
// Prints one row; returns false if it misses what was promised.
bool print_rate(const Rate& rate);

}  // namespace traceloom::bench
