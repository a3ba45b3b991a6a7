#include "comparison/judge/judge.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kFifth = 5;

}  // namespace

std::span<const std::int64_t> used_steps(const std::vector<std::int64_t>& steps_ns,
                                         std::size_t used) {
  used = std::min(used, steps_ns.size());
  return used < 2 ? std::span<const std::int64_t>() : std::span(steps_ns).subspan(1, used - 1);
}

std::vector<std::size_t> middle_steps(std::span<const std::int64_t> lengths) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t step) { return lengths[step]; });
  const std::size_t one_each_side = order.size() < 3 ? 0 : 1;
  const auto cut = static_cast<std::ptrdiff_t>(std::max(order.size() / kFifth, one_each_side));
  return {order.begin() + cut, order.end() - cut};
}

double middle_mean(std::span<const std::int64_t> lengths) {
  const std::vector<std::size_t> kept = middle_steps(lengths);
  double sum = 0;
  for (const std::size_t step : kept) sum += static_cast<double>(lengths[step]);
  return kept.empty() ? 0 : sum / static_cast<double>(kept.size());
}

std::optional<double> capture_value(const std::vector<std::int64_t>& steps_ns, std::size_t used) {
  const std::span steps = used_steps(steps_ns, used);
  const double mean = middle_mean(steps);
  return steps.size() < kLeastSteps || mean <= 0 ? std::nullopt : std::optional(mean);
}

double mean_of_steps(const std::vector<std::int64_t>& steps_ns, std::size_t used) {
  const std::span steps = used_steps(steps_ns, used);
  if (steps.empty()) return 0;
  return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

bool are_of_one_capture(const std::vector<std::int64_t>& some,
                        const std::vector<std::int64_t>& others) {
  const auto differs = [&](std::int64_t ns) { return ns != some.front(); };
  return some == others && std::any_of(some.begin(), some.end(), differs);
}

std::size_t count_slow_steps(std::span<const std::int64_t> lengths) {
  if (lengths.empty()) return 0;
  std::vector<std::int64_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t median = sorted[(sorted.size() - 1) / 2];
  const auto is_slow = [&](std::int64_t ns) { return ns - median >= median / 2 && ns > median; };
  return static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), is_slow));
}

namespace {

constexpr double kLeastNoise = 1e-9;        // captures that do not differ at all
constexpr double kKnown = 1e6;              // degrees of freedom of a noise that is assumed
constexpr std::size_t kMostCaptures = 199;  // a side, for captures_needed
constexpr double kTwiceAsMuch = 4;          // of variances
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

double squares_around_mean(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

}  // namespace

void SlowSteps::add(std::size_t count, std::size_t steps) {
  counts.push_back(static_cast<double>(count));
  slow += counts.back();
  all += static_cast<double>(steps);
}

bool has_more_slow_steps(const SlowSteps& base, const SlowSteps& changed, double alpha) {
  if (changed.slow == 0) return false;
  const auto whole = [](double number) { return static_cast<unsigned>(number); };
  const boost::math::hypergeometric_distribution<> dealt(
      whole(base.slow + changed.slow), whole(changed.all), whole(base.all + changed.all));
  if (cdf(complement(dealt, whole(changed.slow) - 1)) >= alpha) return false;
  if (base.counts.size() < 2 || changed.counts.size() < 2) return true;
  const auto captures = static_cast<double>(base.counts.size() + changed.counts.size());
  const double share = (base.slow + changed.slow) / (base.all + changed.all);
  const double expected = share * (1 - share) * (base.all + changed.all) / captures;
  const double squares = squares_around_mean(base.counts) + squares_around_mean(changed.counts);
  if (squares <= expected * (captures - 2)) return true;
  const double error = std::sqrt(squares / (captures - 2) *
                                 (1 / static_cast<double>(base.counts.size()) +
                                  1 / static_cast<double>(changed.counts.size())));
  return StudentsT(captures - 2).tail((mean(changed.counts) - mean(base.counts)) / error) < alpha;
}

namespace {

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

// An increase of this many standard errors is found in 90 of 100 new pairs of sides, if the error
// is an estimate with so many degrees of freedom and alpha is 1 %. 4,000 pairs each were simulated.
constexpr std::array<std::pair<double, double>, 12> kFoundIn90{{{2, 21.03},
                                                                {3, 10.84},
                                                                {4, 7.97},
                                                                {5, 6.70},
                                                                {6, 5.99},
                                                                {8, 5.24},
                                                                {10, 4.84},
                                                                {14, 4.44},
                                                                {18, 4.22},
                                                                {28, 3.99},
                                                                {38, 3.89},
                                                                {1e9, 3.61}}};

// Returns nullopt where the table says nothing. Between two entries it is linear in 1 / freedom.
std::optional<double> errors_found(double freedom, const JudgeOptions& options) {
  const JudgeOptions usual;
  if (freedom < kFoundIn90.front().first || options.alpha != usual.alpha ||
      options.power != usual.power)
    return std::nullopt;
  const auto* const more =
      std::ranges::lower_bound(kFoundIn90, freedom, {}, &std::pair<double, double>::first);
  if (more == kFoundIn90.begin() || more == kFoundIn90.end()) return kFoundIn90.front().second;
  const auto& [less_freedom, less] = *(more - 1);
  const double way = (1 / less_freedom - 1 / freedom) / (1 / less_freedom - 1 / more->first);
  return less + way * (more->second - less);
}

// Returns the increase, on the scale, that is found with the chance `power`.
double detectable(double freedom, double error, const JudgeOptions& options) {
  const StudentsT t(freedom);
  const double floor = Scale(options.scale).distance(options.floor);
  const double chance = t.quantile(options.power) * error;
  if (const std::optional<double> errors = errors_found(freedom, options))
    return std::max(*errors * error, floor + chance);
  return std::max(t.quantile(1 - options.alpha) * error, floor) + chance;
}

// Returns the standard error of a change if the captures differ by 1.
double error_factor(double base_captures, double changed_captures, bool base_is_exact) {
  return std::sqrt((base_is_exact ? 0 : 1 / base_captures) + 1 / changed_captures);
}

// True if that many captures would decide: see Judgement::captures_needed.
bool would_decide(double freedom, double error, double change, const JudgeOptions& options) {
  const double limit = Scale(options.scale).distance(options.limit);
  if (options.floor < options.limit) return detectable(freedom, error, options) <= limit;
  const StudentsT t(freedom);
  if (change < limit)
    return (t.quantile(options.ok_level) + t.quantile(options.power)) * error <= limit - change;
  return (t.quantile(1 - options.alpha) + t.quantile(options.power)) * error <= change;
}

std::optional<std::size_t> captures_needed(double noise, double change, bool base_is_exact,
                                           const JudgeOptions& options) {
  for (std::size_t captures = 2; captures <= kMostCaptures; ++captures) {
    const auto count = static_cast<double>(captures);
    const double error = noise * error_factor(count, count, base_is_exact);
    if (would_decide(base_is_exact ? count - 1 : 2 * count - 2, error, change, options))
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

// Tells how well the difference of the means of two sides is known.
struct Spread {
  double error = 0;    // standard error of the difference
  double freedom = 0;  // 0 if nothing shows the noise
  double noise = 0;    // standard deviation between captures
};

// The variance of a mean.
double variance_of_mean(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  return squares_around_mean(values) / (count - 1) / count;
}

// Gives each side a noise of its own, with Satterthwaite's degrees of freedom.
void take_own_noise(const std::vector<double>& few, const std::vector<double>& many,
                    Spread& spread) {
  if (few.size() < 2 || few.size() == many.size()) return;
  const double a = variance_of_mean(few);
  const double b = variance_of_mean(many);
  const auto n = static_cast<double>(few.size());
  const auto m = static_cast<double>(many.size());
  if (a * n <= kTwiceAsMuch * b * m) return;
  spread.error = std::sqrt(a + b);
  spread.freedom = std::max(1.0, (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1)));
}

Spread spread_of(const std::vector<double>& base, const std::vector<double>& changed,
                 const Samples& samples, const JudgeOptions& options) {
  Pool pool;
  if (!samples.base_is_exact) pool.add(base);
  pool.add(changed);
  for (const std::vector<double>& group : samples.history)
    pool.add(Scale(options.scale).numbers(group));
  Spread spread;
  spread.freedom = static_cast<double>(pool.freedom);
  if (pool.freedom > 0) spread.noise = std::sqrt(pool.squares / spread.freedom);
  if (pool.freedom == 0) spread.noise = options.noise.value_or(0);
  spread.error = std::max(spread.noise, kLeastNoise) *
                 error_factor(static_cast<double>(base.size()), static_cast<double>(changed.size()),
                              samples.base_is_exact);
  if (!samples.base_is_exact)
    take_own_noise(base.size() < changed.size() ? base : changed,
                   base.size() < changed.size() ? changed : base, spread);
  return spread;
}

// Returns the numbers of runs, on the scale, from the place `first` on.
std::vector<double> means_of_runs(const std::vector<std::vector<double>>& runs, const Scale& scale,
                                  std::size_t first = 0) {
  std::vector<double> means;
  for (std::size_t i = first; i < runs.size(); ++i) means.push_back(mean(scale.numbers(runs[i])));
  return means;
}

std::size_t first_of_newest(const std::vector<std::vector<double>>& runs) {
  return runs.size() - std::min(runs.size(), kNewestRuns);
}

// `changed` are the captures of the new run, on the scale.
Spread spread_of_runs(const std::vector<std::vector<double>>& runs,
                      const std::vector<double>& changed, const JudgeOptions& options) {
  const Scale scale(options.scale);
  const std::size_t first = first_of_newest(runs);
  const std::vector<double> means = means_of_runs(runs, scale, first);
  const auto count = static_cast<double>(means.size());
  const double assumed = options.noise.value_or(kAssumedNoise);
  double squares = kAssumedRuns * assumed * assumed;
  for (std::size_t i = 1; i < means.size(); ++i)
    squares += (means[i] - means[i - 1]) * (means[i] - means[i - 1]) / 3;
  Spread spread;
  spread.freedom = kAssumedRuns + 2 * (count - 1) / 3;
  spread.noise = std::sqrt(squares / spread.freedom);
  double variance = spread.noise * spread.noise * (1 + 1 / count);
  Pool within;
  for (std::size_t i = first; i < runs.size(); ++i) within.add(scale.numbers(runs[i]));
  if (within.freedom > 0 && changed.size() > 1) {
    const double usual = within.squares / static_cast<double>(within.freedom);
    const double own = variance_of_mean(changed);
    const auto captures = static_cast<double>(changed.size());
    if (own * captures > kTwiceAsMuch * usual) variance += own - usual / captures;
  }
  spread.error = std::sqrt(variance);
  return spread;
}

Spread spread_between(const std::vector<double>& base, const std::vector<double>& changed,
                      const Samples& samples, const JudgeOptions& options) {
  return samples.runs.empty() ? spread_of(base, changed, samples, options)
                              : spread_of_runs(samples.runs, changed, options);
}

// Where nothing shows the noise of the means of all steps, their rise alone decides.
void veto(const Samples& samples, const JudgeOptions& options, Judgement& found) {
  constexpr double kMostChance = 0.05;
  if (samples.base_of_all.empty() || samples.changed_of_all.empty()) return;
  const Scale scale(options.scale);
  const std::vector<double> base = scale.numbers(samples.base_of_all);
  const std::vector<double> changed = scale.numbers(samples.changed_of_all);
  const double change = mean(changed) - mean(base);
  found.change_of_all = scale.change_of(change);
  const bool passes = found.kind == ChangeKind::ok || found.kind == ChangeKind::improvement;
  if (!passes || change < scale.distance(options.limit)) return;
  const Spread spread = spread_between(base, changed, {.runs = samples.runs_of_all},
                                       {.scale = options.scale, .noise = options.noise});
  found.is_vetoed =
      spread.freedom == 0 || StudentsT(spread.freedom).tail(change / spread.error) < kMostChance;
  if (found.is_vetoed) found.kind = ChangeKind::inconclusive;
}

// Asks whether the newest runs of a store are slower than the first ones: `new_run` is on the
// scale, and alpha that of this question.
void judge_drift(const Samples& samples, double new_run, double alpha, const JudgeOptions& options,
                 Judgement& found) {
  if (samples.runs.size() + 1 < 2 * kFirstRuns) return;
  const Scale scale(options.scale);
  const std::vector<double> all = means_of_runs(samples.runs, scale);
  const std::vector<double> first(all.begin(), all.begin() + kFirstRuns);
  std::vector<double> newest(all.end() - (kFirstRuns - 1), all.end());
  newest.push_back(new_run);
  const double change = mean(newest) - mean(first);
  const Spread spread = spread_of(first, newest, {}, {.scale = options.scale});
  const double p = StudentsT(spread.freedom).tail(change / spread.error);
  found.drift = scale.change_of(change);
  found.bounds->p = std::min(found.bounds->p, 2 * p);
  if (found.kind == ChangeKind::regression || change < scale.distance(options.floor) || p >= alpha)
    return;
  found.kind = ChangeKind::regression;
  found.is_drift = true;
}

}  // namespace

std::vector<double> newest_runs(const std::vector<std::vector<double>>& runs) {
  const Scale scale(ChangeScale::relative);
  std::vector<double> numbers;
  for (const double mean : means_of_runs(runs, scale, first_of_newest(runs)))
    numbers.push_back(scale.number_of(mean));
  return numbers;
}

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
  const Spread spread = spread_between(base, changed, samples, options);
  const bool has_runs = !samples.runs.empty();

  Judgement found;
  found.runs = samples.runs.size();
  found.base = scale.number_of(mean(base));
  found.changed = scale.number_of(mean(changed));
  found.change = scale.change_of(change);
  found.scale = options.scale;
  found.alpha = options.alpha;
  found.floor = options.floor;
  found.limit = options.limit;
  found.freedom = spread.freedom;
  found.is_assumed =
      has_runs ? found.runs < kFirstRuns : spread.freedom == 0 && options.noise.has_value();
  if (spread.freedom > 0 || options.noise) {
    const double freedom = spread.freedom == 0 ? kKnown : spread.freedom;
    const StudentsT t(freedom);
    JudgeOptions own = options;
    if (has_runs) own.alpha /= 2;
    ChangeBounds bounds{.noise = spread.noise, .error = spread.error};
    bounds.p = t.tail(change / bounds.error);
    bounds.lower = scale.change_of(change - t.quantile(1 - own.alpha) * bounds.error);
    bounds.upper = scale.change_of(change + t.quantile(own.ok_level) * bounds.error);
    if (errors_found(freedom, options))
      bounds.detectable = scale.change_of(detectable(freedom, bounds.error, options));
    found.kind = kind_of(change, bounds, t, own);
    if (found.kind == ChangeKind::inconclusive && !has_runs)
      found.captures_needed = captures_needed(bounds.noise, change, samples.base_is_exact, options);
    found.bounds = bounds;
    if (has_runs) {
      found.bounds->p = std::min(1.0, 2 * bounds.p);
      judge_drift(samples, mean(changed), own.alpha, options, found);
    }
  }
  veto(samples, options, found);
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
      if (one.runs > 0) continue;
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
