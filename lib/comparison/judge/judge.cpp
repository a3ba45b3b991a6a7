#include "comparison/judge/judge.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
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

// Numbers and changes on the scale on which they are compared: logarithms or the numbers
// themselves.
class Scale {
 public:
  explicit Scale(ChangeScale scale) : is_relative_(scale == ChangeScale::relative) {}

  // Sorted, so that sums do not depend on the order of the captures.
  std::vector<double> numbers(std::vector<double> values) const {
    std::sort(values.begin(), values.end());
    if (is_relative_)
      for (double& value : values) value = std::log(value);
    return values;
  }
  double number_of(double place) const { return is_relative_ ? std::exp(place) : place; }
  double distance(double change) const { return is_relative_ ? std::log1p(change) : change; }
  double change_of(double distance) const { return is_relative_ ? std::expm1(distance) : distance; }

 private:
  bool is_relative_;
};

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

// Returns the increase, on the scale, that is found with the chance `power`.
double detectable(const StudentsT& t, double error, const JudgeOptions& options) {
  return std::max(t.quantile(1 - options.alpha) * error,
                  Scale(options.scale).distance(options.floor)) +
         t.quantile(options.power) * error;
}

// Returns the standard error of a change if the captures differ by 1.
double error_factor(double base_captures, double changed_captures, bool base_is_exact) {
  return std::sqrt((base_is_exact ? 0 : 1 / base_captures) + 1 / changed_captures);
}

// True if that many captures would decide: see Judgement::captures_needed.
bool would_decide(const StudentsT& t, double error, double change, const JudgeOptions& options) {
  const double limit = Scale(options.scale).distance(options.limit);
  if (options.floor < options.limit) return detectable(t, error, options) <= limit;
  if (change < limit)
    return (t.quantile(options.ok_level) + t.quantile(options.power)) * error <= limit - change;
  return (t.quantile(1 - options.alpha) + t.quantile(options.power)) * error <= change;
}

std::optional<std::size_t> captures_needed(double noise, double change, bool base_is_exact,
                                           const JudgeOptions& options) {
  for (std::size_t captures = 2; captures <= kMostCaptures; ++captures) {
    const auto count = static_cast<double>(captures);
    const double error = noise * error_factor(count, count, base_is_exact);
    if (would_decide(StudentsT(base_is_exact ? count - 1 : 2 * count - 2), error, change, options))
      return captures;
  }
  return std::nullopt;
}

ChangeKind kind_of(double change, const ChangeBounds& bounds, const StudentsT& t,
                   const JudgeOptions& options) {
  const double floor = Scale(options.scale).distance(options.floor);
  if (change >= floor && bounds.p < options.alpha) return ChangeKind::regression;
  if (bounds.upper >= options.limit) return ChangeKind::inconclusive;
  const bool is_faster = change <= -floor && t.tail(-change / bounds.error) < options.alpha;
  return is_faster ? ChangeKind::improvement : ChangeKind::ok;
}

}  // namespace

std::string_view to_string(ChangeKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"OK", "IMPROVEMENT", "REGRESSION",
                                                          "INCONCLUSIVE", "INCOMPARABLE"};
  return kNames[static_cast<std::size_t>(kind)];
}

Judgement judge(const Samples& samples, const JudgeOptions& options) {
  const Scale scale(options.scale);
  const std::vector<double> base = scale.numbers(samples.base);
  const std::vector<double> changed = scale.numbers(samples.changed);
  const double change = mean(changed) - mean(base);
  Pool pool;
  if (!samples.base_is_exact) pool.add(base);
  pool.add(changed);
  for (const std::vector<double>& group : samples.history) pool.add(scale.numbers(group));

  Judgement found;
  found.base = scale.number_of(mean(base));
  found.changed = scale.number_of(mean(changed));
  found.change = scale.change_of(change);
  found.scale = options.scale;
  found.alpha = options.alpha;
  found.freedom = pool.freedom;
  found.is_assumed = pool.freedom == 0 && options.noise.has_value();
  if (pool.freedom == 0 && !options.noise) return found;

  const double freedom = found.is_assumed ? kKnown : static_cast<double>(pool.freedom);
  const StudentsT t(freedom);
  ChangeBounds bounds;
  bounds.noise = found.is_assumed ? *options.noise : std::sqrt(pool.squares / freedom);
  bounds.error = std::max(bounds.noise, kLeastNoise) *
                 error_factor(static_cast<double>(base.size()), static_cast<double>(changed.size()),
                              samples.base_is_exact);
  bounds.p = t.tail(change / bounds.error);
  bounds.lower = scale.change_of(change - t.quantile(1 - options.alpha) * bounds.error);
  bounds.upper = scale.change_of(change + t.quantile(options.ok_level) * bounds.error);
  bounds.detectable = scale.change_of(detectable(t, bounds.error, options));
  found.kind = kind_of(change, bounds, t, options);
  if (found.kind == ChangeKind::inconclusive)
    found.captures_needed = captures_needed(bounds.noise, change, samples.base_is_exact, options);
  found.bounds = bounds;
  return found;
}

std::vector<Judgement> judge_family(const std::vector<Question>& questions) {
  std::vector<Judgement> found;
  found.reserve(questions.size());
  for (const Question& one : questions) found.push_back(judge(one.samples, one.options));
  std::vector<std::size_t> order(questions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto p_of = [&](std::size_t i) { return found[i].bounds ? found[i].bounds->p : 1.0; };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p_of(a) < p_of(b); });
  bool is_open = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Judgement& one = found[order[i]];
    if (is_open) {
      Question strict = questions[order[i]];
      strict.options.alpha /= static_cast<double>(order.size() - i);
      one = judge(strict.samples, strict.options);
    } else if (one.kind == ChangeKind::regression) {
      one.kind = ChangeKind::inconclusive;
      Question strict = questions[order[i]];
      strict.options.alpha /= static_cast<double>(order.size());
      one.captures_needed =
          captures_needed(one.bounds->noise, Scale(strict.options.scale).distance(one.change),
                          strict.samples.base_is_exact, strict.options);
    }
    // A change below its floor is no regression, but chance does not make it either.
    is_open = is_open && one.bounds && one.bounds->p < one.alpha;
  }
  return found;
}

SecondLook judge_twice(std::vector<Question> first, std::vector<Question> all) {
  for (auto* const questions : {&first, &all})
    for (Question& question : *questions) question.options.alpha /= 2;
  SecondLook look{judge_family(first), 1};
  const auto leaves_doubt = [](const Judgement& found) {
    return found.kind == ChangeKind::inconclusive ||
           (found.kind == ChangeKind::ok && found.bounds->p < kDoubt);
  };
  if (std::none_of(look.judgements.begin(), look.judgements.end(), leaves_doubt)) return look;
  return {judge_family(all), 2};
}

}  // namespace traceloom
