#include "comparison/judge/judge.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace traceloom {
namespace {

constexpr double kLeastNoise = 1e-9;        // captures that do not differ at all
constexpr double kKnown = 1e6;              // degrees of freedom of a noise that is assumed
constexpr std::size_t kMostCaptures = 199;  // a side, for captures_needed
constexpr double kDoubt = 0.1;              // p of an OK below which a second look is taken

class StudentsT {
 public:
  explicit StudentsT(double freedom) : distribution_(freedom) {}
  double quantile(double p) const { return boost::math::quantile(distribution_, p); }
  // Returns the chance of more than `t`.
  double tail(double t) const { return cdf(boost::math::complement(distribution_, t)); }

 private:
  boost::math::students_t distribution_;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Sorted, so that sums do not depend on the order of the captures.
std::vector<double> logarithms(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  for (double& value : values) value = std::log(value);
  return values;
}

double squares_around_mean(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

// Pools the differences within each group.
struct Pool {
  double squares = 0;
  std::size_t freedom = 0;

  void add(const std::vector<double>& group) {
    if (group.empty()) return;
    squares += squares_around_mean(group);
    freedom += group.size() - 1;
  }
};

// Returns the logarithm of the increase that is found with the chance `power`.
double detectable(const StudentsT& t, double error, const JudgeOptions& options) {
  return std::max(t.quantile(1 - options.alpha) * error, std::log1p(options.floor)) +
         t.quantile(options.power) * error;
}

std::optional<std::size_t> captures_needed(double noise, const JudgeOptions& options) {
  for (std::size_t captures = 2; captures <= kMostCaptures; ++captures) {
    const auto count = static_cast<double>(captures);
    const StudentsT t(2 * count - 2);
    if (detectable(t, noise * std::sqrt(2 / count), options) <= std::log1p(options.limit))
      return captures;
  }
  return std::nullopt;
}

ChangeKind kind_of(double change, const ChangeBounds& bounds, const StudentsT& t,
                   const JudgeOptions& options) {
  const double floor = std::log1p(options.floor);
  if (change >= floor && bounds.p < options.alpha) return ChangeKind::regression;
  if (bounds.upper >= options.limit) return ChangeKind::inconclusive;
  const bool is_faster = change <= -floor && t.tail(-change / bounds.error) < options.alpha;
  return is_faster ? ChangeKind::improvement : ChangeKind::ok;
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::ok:
      return "OK";
    case ChangeKind::improvement:
      return "IMPROVEMENT";
    case ChangeKind::regression:
      return "REGRESSION";
    case ChangeKind::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

Judgement judge(const Samples& samples, const JudgeOptions& options) {
  const std::vector<double> base = logarithms(samples.base);
  const std::vector<double> changed = logarithms(samples.changed);
  const double change = mean(changed) - mean(base);
  Pool pool;
  pool.add(base);
  pool.add(changed);
  for (const std::vector<double>& group : samples.history) pool.add(logarithms(group));

  Judgement found;
  found.base = std::exp(mean(base));
  found.changed = std::exp(mean(changed));
  found.change = std::expm1(change);
  found.alpha = options.alpha;
  found.freedom = pool.freedom;
  found.is_assumed = pool.freedom == 0 && options.noise.has_value();
  if (pool.freedom == 0 && !options.noise) return found;

  const double freedom = found.is_assumed ? kKnown : static_cast<double>(pool.freedom);
  const StudentsT t(freedom);
  ChangeBounds bounds;
  bounds.noise = found.is_assumed ? *options.noise : std::sqrt(pool.squares / freedom);
  bounds.error =
      std::max(bounds.noise, kLeastNoise) *
      std::sqrt(1 / static_cast<double>(base.size()) + 1 / static_cast<double>(changed.size()));
  bounds.p = t.tail(change / bounds.error);
  bounds.lower = std::expm1(change - t.quantile(1 - options.alpha) * bounds.error);
  bounds.upper = std::expm1(change + t.quantile(options.ok_level) * bounds.error);
  bounds.detectable = std::expm1(detectable(t, bounds.error, options));
  found.kind = kind_of(change, bounds, t, options);
  if (found.kind == ChangeKind::inconclusive)
    found.captures_needed = captures_needed(bounds.noise, options);
  found.bounds = bounds;
  return found;
}

std::vector<Judgement> judge_family(const std::vector<Samples>& metrics,
                                    const JudgeOptions& options) {
  std::vector<Judgement> found;
  found.reserve(metrics.size());
  for (const Samples& samples : metrics) found.push_back(judge(samples, options));
  std::vector<std::size_t> order(metrics.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto p_of = [&](std::size_t i) { return found[i].bounds ? found[i].bounds->p : 1.0; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_of(a) < p_of(b); });
  bool is_open = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Judgement& one = found[order[i]];
    if (is_open) {
      JudgeOptions strict = options;
      strict.alpha = options.alpha / static_cast<double>(order.size() - i);
      one = judge(metrics[order[i]], strict);
    } else if (one.kind == ChangeKind::regression) {
      one.kind = ChangeKind::inconclusive;
    }
    is_open = is_open && one.kind == ChangeKind::regression;
  }
  return found;
}

SecondLook judge_twice(const Samples& first, const Samples& more, const JudgeOptions& options) {
  JudgeOptions half = options;
  half.alpha = options.alpha / 2;
  SecondLook look{judge(first, half), 1};
  const Judgement& found = look.judgement;
  const bool leaves_doubt = found.kind == ChangeKind::inconclusive ||
                            (found.kind == ChangeKind::ok && found.bounds->p < kDoubt);
  if (!leaves_doubt) return look;
  Samples all = first;
  append(all.base, more.base);
  append(all.changed, more.changed);
  return {judge(all, half), 2};
}

}  // namespace traceloom
