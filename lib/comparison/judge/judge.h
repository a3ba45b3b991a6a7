// The statistics of a comparison: one number for each capture, and whether those of two
// versions differ by more than noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace traceloom {

// capture_value: one number for the steps of a capture, the mean of its middle steps.
//
//   const std::vector<std::int64_t> steps_ns{21066306, 15428822, ...};
//   if (const std::optional<double> ns = capture_value(steps_ns)) use(*ns);
//
// A comparison uses the same steps of all captures, as many as the shortest one has: while a
// program warms up, later steps are shorter, and every n-th may be longer. The first step is left
// out, and of the others the shortest and the longest fifth. A few stalls do not move the mean of
// the rest, and the means of parts of the same steps add up to it, which medians do not. With 1 %
// of stalls, this number varied by 0.76 % where the mean of all 20 steps varied by 2.06 %.

inline constexpr std::size_t kLeastSteps = 5;  // steps beside the first
inline constexpr std::size_t kAllSteps = ~std::size_t{0};

// Returns the first `used` steps but the very first one: a view into the list.
std::span<const std::int64_t> used_steps(const std::vector<std::int64_t>& steps_ns,
                                         std::size_t used = kAllSteps);

// Returns the indices of the middle ones of steps of one kind, by length; steps of one length stay
// in order. Of three and four steps, the shortest and the longest one are left out.
std::vector<std::size_t> middle_steps(std::span<const std::int64_t> lengths);
// Returns the mean of these; 0 if there are none.
double middle_mean(std::span<const std::int64_t> lengths);

// Returns nullopt for fewer than kLeastSteps steps beside the first: they show nothing. So do
// steps without a length.
std::optional<double> capture_value(const std::vector<std::int64_t>& steps_ns,
                                    std::size_t used = kAllSteps);
// Returns the mean of all these steps but the first; 0 if there are none.
double mean_of_steps(const std::vector<std::int64_t>& steps_ns, std::size_t used = kAllSteps);

// True if these are the steps of one capture and of its copy: two runs do not agree in all steps to
// the ns. Steps that are all alike say nothing.
bool are_of_one_capture(const std::vector<std::int64_t>& some,
                        const std::vector<std::int64_t>& others);

// Returns the number of steps that take at least half as long again as the median of them.
std::size_t count_slow_steps(std::span<const std::int64_t> lengths);

// has_more_slow_steps: whether one side has more slow steps than the other, by more than chance.
//
//   SlowSteps base;
//   base.add(count_slow_steps(used_steps(steps_ns)), steps_ns.size() - 1);     // for each capture
//   if (has_more_slow_steps(base, changed, 0.01)) ...

struct SlowSteps {
  std::vector<double> counts;  // of slow steps, by capture
  double slow = 0;             // their sum
  double all = 0;              // number of all steps

  void add(std::size_t count, std::size_t steps);
  double share() const { return all > 0 ? slow / all : 0; }
};

// Asks how likely it is that so many of the slow steps of both sides are on the one side by chance
// (Fisher's exact test); where captures of a side differ by more than counts do, their mean counts
// have to differ by more than that noise as well (Student's t).
bool has_more_slow_steps(const SlowSteps& base, const SlowSteps& changed, double alpha);

// judge: whether the captures of a new version are slower than those of its base, by more than
// noise.
//
//   const Judgement found = judge({{15.4e6, 15.5e6, 15.3e6}, {16.9e6, 16.7e6, 16.8e6}}, {});
//   found.kind == ChangeKind::regression                      // found.change is 0.091
//
// A capture is one number (judge.h). The procedure, on the logarithms of these numbers:
// 1. The change is the difference of the means of both sides.
// 2. The noise is the standard deviation between captures, pooled within sides and within groups of
//    a history. Steps are no samples: those of one capture share its clocks, heat and place. Where
//    the side with fewer captures (at least two) varies more than twice as much as the other, each
//    side has its own noise (Welch).
// 3. It is a regression if the change is at least the floor and the one-sided p of Student's t is
//    below alpha.
// 4. Otherwise it is OK if the upper bound of the change is below the limit, and an improvement if
//    the change is also at least the floor the other way, with p below alpha.
// 5. Otherwise it is inconclusive, also if nothing shows the noise: one capture a side and no
//    history.
// 6. What would pass is inconclusive if the mean of all steps rose by the limit, with p below 5 %:
//    the typical step did not change, but some steps did. Without this, an optimizer that runs in
//    every fifth step could make the mean 18 % longer and pass.
//
// Simulated with captures that differ by 1 % and 20 steps each, this gave 0.38, 0.21 and 0.00 % of
// false alarms for 3, 5 and 10 captures a side; a t test on pooled steps gave 7.6, 4.3 and 2.4 %.
//
// With runs (Samples::runs), captures of one run share its day and machine, so that a run is one
// number, the mean of its captures. Points 1 to 3 become:
// 1. The change is the difference of the new run to the mean of the newest kNewestRuns runs.
// 2. The noise is that between neighbouring runs, which a slow creep does not swell, as if
//    kAssumedRuns more degrees of freedom had shown kAssumedNoise: the first runs have none of
//    their own. Where captures of the new run differ more than twice as much as those of other
//    runs, what is beyond adds to the error.
// 3. Half of alpha is for that change, the other half for a drift: the newest kFirstRuns runs, the
//    new one among them, against the first ones, by a pooled t and with the same floor. The p that
//    is told is twice the smaller one of both.
//
// Simulated with three captures a run and runs that differ by 1 %, 0.4 % of runs were false alarms;
// captures as samples gave 4.9 %.

inline constexpr std::size_t kNewestRuns = 20;
inline constexpr std::size_t kFirstRuns = 5;
inline constexpr double kAssumedRuns = 4;
inline constexpr double kAssumedNoise = 0.01;

// How changes are counted. With `units` they are differences, and so are floor, limit and noise: in
// the unit of the numbers, which may be 0.
enum class ChangeScale : std::uint8_t { relative, units };

struct JudgeOptions {
  double alpha = 0.01;  // chance of a false alarm
  double floor = 0.02;  // a smaller change never matters
  double limit = 0.05;  // a change that must not slip through; at least the floor
  ChangeScale scale = ChangeScale::relative;
  double ok_level = 0.95;  // confidence of the bound that is compared with the limit
  double power = 0.90;     // chance of finding the detectable change
  // The standard deviation between captures to assume if nothing shows it; between runs, the one to
  // take for kAssumedNoise.
  std::optional<double> noise = {};
};

// Numbers are never incomparable: that is said of two sides which differ in more than their times.
enum class ChangeKind : std::uint8_t { ok, improvement, regression, inconclusive, incomparable };
// Returns "OK", "IMPROVEMENT", "REGRESSION", "INCONCLUSIVE", "INCOMPARABLE".
std::string_view to_string(ChangeKind kind);

// Numbers of captures; on the relative scale all are positive.
struct Samples {
  std::vector<double> base = {};
  std::vector<double> changed = {};
  std::vector<std::vector<double>> history =
      {};                      // groups, each of one version; for the noise alone
  bool base_is_exact = false;  // `base` is one number without noise: a limit, not a measurement
  // mean_of_steps() of the same captures; empty if these are no steps
  std::vector<double> base_of_all = {};
  std::vector<double> changed_of_all = {};
  // The same of each run of a store, oldest first: none is empty. `base` has one number a run then,
  // and history does not count.
  std::vector<std::vector<double>> runs = {};
  std::vector<std::vector<double>> runs_of_all = {};
};

// Returns the numbers of the newest kNewestRuns runs: geometric means of their captures.
std::vector<double> newest_runs(const std::vector<std::vector<double>>& runs);

// The figures that need an estimate of the noise. Changes are relative (0.05 is 5 % more) unless
// JudgeOptions::scale says otherwise.
struct ChangeBounds {
  double noise = 0;  // standard deviation between captures or runs (relative: of logarithms)
  double error = 0;  // standard error of the change
  double p = 1;      // chance of such an increase if there is no change
  double lower = 0;  // bound of the change with a confidence of 1 - alpha (runs: 1 - alpha / 2)
  double upper = 0;  // bound of the change with a confidence of ok_level
  // The increase that such captures show in 90 of 100 cases. The noise is itself an estimate, and
  // the next pair has another. It is only known for the usual alpha and power, from two degrees of
  // freedom on.
  std::optional<double> detectable = {};
};

struct Judgement {
  ChangeKind kind = ChangeKind::inconclusive;
  double base = 0;  // mean of the captures (relative: the geometric one)
  double changed = 0;
  double change = 0;
  ChangeScale scale = ChangeScale::relative;
  double alpha = 0;  // chance of a false alarm that was allowed
  double floor = 0;  // of the options
  double limit = 0;
  double freedom = 0;  // degrees of freedom of the noise; 0 if it is assumed or not known
  // The noise is JudgeOptions::noise; of a store, there are fewer than kFirstRuns runs.
  bool is_assumed = false;
  std::optional<ChangeBounds> bounds = {};   // nullopt if nothing shows the noise
  std::optional<double> change_of_all = {};  // of the mean of all steps
  bool is_vetoed = false;                    // it would pass but for that change
  std::size_t runs = 0;                      // of the base; 0: captures are compared
  // The change of the newest kFirstRuns runs from the first ones; nullopt if they overlap.
  std::optional<double> drift = {};
  bool is_drift = false;  // that change alone makes it a regression, or would beside no other gate
  // Captures a side that would be enough if it is inconclusive: to find a change of the limit, or,
  // if floor and limit are one, to tell the change that was seen from that limit or from 0. nullopt
  // if even 199 are too few, the noise is not known, or runs are compared.
  std::optional<std::size_t> captures_needed = {};
};

// Both sides need at least one number. Returns the same for any order of the captures of a side.
Judgement judge(const Samples& samples, const JudgeOptions& options);

struct Question {
  Samples samples;
  JudgeOptions options = {};
};

// Judges several metrics so that the chance of any false alarm stays below alpha (Holm, 1979): the
// smallest p is compared with alpha / n, the next with alpha / (n - 1), until one is not below. A
// later regression, which would be one alone, is inconclusive. Answers stand in the order of the
// questions, which have the same alpha.
std::vector<Judgement> judge_family(const std::vector<Question>& questions);

struct SecondLook {
  std::vector<Judgement> judgements;
  int looks = 1;
};

// Judges a family twice, as planned from the start: each time with half of alpha, first the
// captures of `first`, then those of `all`, which are the same and more. The second look is taken
// only if the first leaves a doubt: an answer is inconclusive, or OK with p below 0.1. Looking
// again after each capture without halving gave 3.8 % false alarms instead of 1 %.
SecondLook judge_twice(std::vector<Question> first, std::vector<Question> all);

}  // namespace traceloom
