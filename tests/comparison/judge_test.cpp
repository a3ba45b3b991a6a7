// The expected numbers are those of a slow, plain program that computes Student's t from the
// incomplete beta function.
#include "comparison/judge/judge.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace traceloom {
namespace {

doctest::Approx about(double value) {
  return doctest::Approx(value).epsilon(1e-8);
}

struct Expected {
  ChangeKind kind;
  double change;
  double noise;
  double error;
  double p;
  double lower;
  double upper;
  std::optional<double> detectable = {};
};

void check(const Judgement& found, const Expected& expected) {
  CHECK(to_string(found.kind) == to_string(expected.kind));
  CHECK(found.change == about(expected.change));
  REQUIRE(found.bounds);
  CHECK(found.bounds->noise == about(expected.noise));
  CHECK(found.bounds->error == about(expected.error));
  CHECK(found.bounds->p == about(expected.p));
  CHECK(found.bounds->lower == about(expected.lower));
  CHECK(found.bounds->upper == about(expected.upper));
  REQUIRE(found.bounds->detectable.has_value() == expected.detectable.has_value());
  if (expected.detectable) CHECK(*found.bounds->detectable == about(*expected.detectable));
}

TEST_CASE("judge: slower by more than the floor and the noise is a regression") {
  const Judgement found = judge({{15.4e6, 15.5e6, 15.3e6}, {16.9e6, 16.7e6, 16.8e6}}, {});
  CHECK(found.base == about(15399783.546741212));
  CHECK(found.changed == about(16799801.584958237));
  CHECK(found.freedom == 4);
  CHECK_FALSE(found.is_assumed);
  CHECK_FALSE(found.captures_needed);
  check(found,
        {ChangeKind::regression, 0.09091154002052737, 0.006228914055347396, 0.0050858870290838055,
         3.4230404407263634e-05, 0.07031935963149971, 0.1028039190901775, 0.041367256685929304});
}

TEST_CASE("judge: a change of the limit is ruled out") {
  check(judge({{100, 101, 99, 100.5, 99.5}, {100, 100.2, 99.7, 100.9, 99.1}}, {}),
        {ChangeKind::ok, -0.00019248233799096237, 0.007287068498431142, 0.0046087467841411075,
         0.5161465920946129, -0.013450274718081356, 0.008412876181677964, 0.026587500419254975});
}

TEST_CASE("judge: too much noise is inconclusive, with the captures that would be enough") {
  const Judgement found = judge({{100, 104, 97}, {103, 99, 108}}, {});
  check(found,
        {ChangeKind::inconclusive, 0.02966756798598147, 0.03948433740046826, 0.03223882648767907,
         0.20788636053386622, -0.0874945181904282, 0.10292334304972361, 0.2929720033840887});
  REQUIRE(found.captures_needed);
  CHECK(*found.captures_needed == 20);
}

TEST_CASE("judge: faster by more than the floor is an improvement") {
  check(judge({{100, 101, 99, 100.5}, {80, 81, 79.5, 80.2}}, {}),
        {ChangeKind::improvement, -0.19924719589120943, 0.008165768574715739, 0.005774070332781508,
         0.9999999897184849, -0.21364660610120823, -0.19021210937762234, 0.0351917562475026});
}

TEST_CASE("judge: a sure change below the floor is OK") {
  check(judge({{100, 100.1, 99.9, 100.05}, {101, 101.1, 100.9, 101.05}}, {}),
        {ChangeKind::ok, 0.009998755597616205, 0.0008497262872655056, 0.0006008472198779074,
         1.5469297959581158e-06, 0.00809341120087037, 0.01117867283345464, 0.02088275647225736});
}

TEST_CASE("judge: a history gives the noise of one capture a side") {
  const Judgement found = judge({{100}, {130}, {{98, 101, 99.5, 100.2}, {110, 111.5, 109}}}, {});
  CHECK(found.freedom == 5);
  check(found,
        {ChangeKind::regression, 0.3, 0.012268934455096405, 0.017350893502263896,
         1.146096700893368e-05, 0.22627328734190622, 0.3462556605982152, 0.12327776427167574});
}

TEST_CASE("judge: a few captures that vary more than the many others have a noise of their own") {
  const std::vector<double> base{100, 100.3, 99.8, 100.1, 99.9, 100.2, 100.4, 99.7};
  const std::vector<double> changed{103, 108, 99};
  const Judgement found = judge({base, changed}, {});
  CHECK(found.freedom == about(2.0047396155903963));
  check(found,
        {ChangeKind::inconclusive, 0.03216573475231405, 0.020649375198264115, 0.025166470645107505,
         0.1675556620595663, -0.13329047499827926, 0.1107401965724291, 0.6945750517598076});
  CHECK(judge({changed, base}, {}).freedom == found.freedom);
  // Three of four are no few, and the many may vary as they like.
  CHECK(judge({{100, 100.1, 100.2}, {103, 108, 99}}, {}).freedom == 4);
  CHECK(judge({{100, 108, 99, 95}, {103, 103.1, 103.2}}, {}).freedom == 5);
}

TEST_CASE("judge: what would pass is inconclusive if the mean of all steps rose by the limit") {
  Samples samples{{100, 101, 99}, {100, 101, 99}};
  CHECK_FALSE(judge(samples, {}).change_of_all);
  samples.base_of_all = {120, 121, 119};
  samples.changed_of_all = {141, 143, 139};
  const Judgement found = judge(samples, {});
  CHECK(found.kind == ChangeKind::inconclusive);
  CHECK(found.is_vetoed);
  REQUIRE(found.change_of_all);
  CHECK(*found.change_of_all == about(0.17494839101704826));
  CHECK(found.change == about(0));
  // By less than the limit, or by noise alone, it passes.
  samples.changed_of_all = {125, 126, 124};
  CHECK(judge(samples, {}).kind == ChangeKind::ok);
  samples.changed_of_all = {120, 180, 119};
  CHECK(judge(samples, {}).kind == ChangeKind::ok);
  // A regression stays one.
  samples = {{100, 101, 99}, {120, 121, 119}, {}, false, {100, 101, 99}, {150, 151, 149}};
  CHECK(judge(samples, {}).kind == ChangeKind::regression);
  CHECK_FALSE(judge(samples, {}).is_vetoed);
  // One capture a side with a history shows no noise of the means: the rise alone decides.
  samples = {{100}, {100}, {{98, 99, 98.5, 98.7}}, false, {120}, {140}};
  CHECK(judge(samples, {}).is_vetoed);
}

TEST_CASE("judge: no number of cases where the noise is hardly known, or with another alpha") {
  CHECK_FALSE(judge({{100, 101}, {103}}, {}).bounds->detectable);
  CHECK_FALSE(judge({{100, 101, 99}, {103, 102, 104}}, {.alpha = 0.005}).bounds->detectable);
}

TEST_CASE("slow steps: more of them than chance deals out, and than captures differ by") {
  const auto of = [](std::initializer_list<std::size_t> counts) {
    SlowSteps steps;
    for (const std::size_t count : counts) steps.add(count, 20);
    return steps;
  };
  CHECK(of({1, 1, 1}).share() == about(0.05));
  CHECK(has_more_slow_steps(of({1, 1, 1}), of({6, 6, 6}), 0.01));
  CHECK(has_more_slow_steps(of({3}), of({18}), 0.01));
  CHECK_FALSE(has_more_slow_steps(of({1, 1, 1}), of({2, 3, 2}), 0.01));
  CHECK_FALSE(has_more_slow_steps(of({6, 6, 6}), of({1, 1, 1}), 0.01));
  // All in one capture: such captures differ by more than counts do.
  CHECK_FALSE(has_more_slow_steps(of({1, 1, 1}), of({18, 0, 0}), 0.01));
  CHECK_FALSE(has_more_slow_steps(of({0, 0, 0}), of({0, 0, 0}), 0.01));
}

TEST_CASE("judge: one capture a side shows no noise, so it is inconclusive") {
  const Judgement found = judge({{100}, {130}}, {});
  CHECK(found.kind == ChangeKind::inconclusive);
  CHECK(found.change == about(0.3));
  CHECK_FALSE(found.bounds);
  CHECK_FALSE(found.captures_needed);
}

TEST_CASE("judge: a noise can be assumed where nothing shows it") {
  JudgeOptions options;
  options.noise = 0.01;
  const Judgement found = judge({{100}, {103}}, options);
  CHECK(found.is_assumed);
  check(found, {ChangeKind::inconclusive, 0.03, 0.01, 0.014142135623730952, 0.018303504206366797,
                -0.003335203446973578, 0.054240462510963816, 0.05237894141257025});
  REQUIRE(found.captures_needed);
  CHECK(*found.captures_needed == 4);
  // Captures that show the noise have priority.
  CHECK_FALSE(judge({{100, 101}, {103}}, options).is_assumed);
}

TEST_CASE("judge: captures that do not differ at all are OK") {
  const Judgement found = judge({{100, 100}, {100, 100}}, {});
  CHECK(found.kind == ChangeKind::ok);
  CHECK(found.change == 0);
  REQUIRE(found.bounds);
  CHECK(found.bounds->noise == 0);
  CHECK(found.bounds->p == about(0.5));
}

TEST_CASE("judge: the order of captures changes no bit of the result") {
  const std::vector<double> base{100.3, 104.7, 97.1, 99.9};
  std::vector<double> changed{103.9, 99.2, 108.4, 101.1};
  const Judgement found = judge({base, changed}, {});
  REQUIRE(found.bounds);
  std::sort(changed.begin(), changed.end());
  do {
    const Judgement again = judge({base, changed}, {});
    REQUIRE(again.bounds);
    CHECK(again.change == found.change);
    CHECK(again.bounds->p == found.bounds->p);
  } while (std::next_permutation(changed.begin(), changed.end()));
}

TEST_CASE("judge: with the sides swapped the change has the other sign") {
  const std::vector<double> base{100.3, 104.7, 97.1};
  const std::vector<double> changed{103.9, 99.2, 108.4};
  const Judgement there = judge({base, changed}, {});
  const Judgement back = judge({changed, base}, {});
  CHECK((1 + there.change) * (1 + back.change) == about(1));
  REQUIRE((there.bounds && back.bounds));
  CHECK(there.bounds->p + back.bounds->p == about(1));
  CHECK(there.bounds->noise == back.bounds->noise);
}

// ExpectedRun is what a store tells of the change of a new run; p is that of both questions.
struct ExpectedRun {
  ChangeKind kind;
  double change;
  double noise;
  double freedom;
  double p;
  double upper;
  double detectable;
};

Judgement check_run(const std::vector<std::vector<double>>& runs,
                    const std::vector<double>& changed, const ExpectedRun& expected) {
  Judgement found = judge({.base = newest_runs(runs), .changed = changed, .runs = runs}, {});
  CHECK(to_string(found.kind) == to_string(expected.kind));
  CHECK(found.runs == runs.size());
  CHECK(found.change == about(expected.change));
  CHECK(found.freedom == about(expected.freedom));
  REQUIRE(found.bounds);
  CHECK(found.bounds->noise == about(expected.noise));
  CHECK(found.bounds->p == about(expected.p));
  CHECK(found.bounds->upper == about(expected.upper));
  REQUIRE(found.bounds->detectable);
  CHECK(*found.bounds->detectable == about(expected.detectable));
  return found;
}

TEST_CASE("judge: of a store of few runs, a noise is assumed") {
  const std::vector<std::vector<double>> one{{100, 101, 99.5}};
  const Judgement ok =
      check_run(one, {100.4, 100.9, 101},
                {ChangeKind::ok, 0.006006066007789184, 0.01, 4, 2 * 0.34688094193992713,
                 0.03679784475792871, 0.11931044424603895});
  CHECK(ok.is_assumed);
  CHECK_FALSE(ok.drift);
  check_run(one, {110, 109.2, 111},
            {ChangeKind::regression, 0.09883196005343724, 0.01, 4, 2 * 0.0013169369399605448,
             0.13246494870112757, 0.11931044424603895});
  // These captures differ much more than those of the run.
  check_run(one, {95, 112, 101},
            {ChangeKind::inconclusive, 0.022600927754853707, 0.01, 4, 2 * 0.33866292897669087,
             0.13734082567438272, 0.4882041781708919});
  check_run({{100, 101, 99.5}, {102, 102.4, 103}, {99, 98.4, 98.8}}, {104, 105, 104.5},
            {ChangeKind::inconclusive, 0.0403852669675755, 0.01390381344888874, 4 + 4.0 / 3,
             2 * 0.02687603235217542, 0.07411905023972001, 0.10881534551093924});
}

TEST_CASE("judge: runs that creep are a regression, though the new one alone is none") {
  const std::vector<std::vector<double>> runs{{99.6},   {100.65}, {100.7},  {101.75}, {101.8},
                                              {101.85}, {102.9},  {102.95}, {104.0}};
  const Judgement found =
      check_run(runs, {103.8},
                {ChangeKind::regression, 0.01972700837271737, 0.007622121300415046, 4 + 2 * 8.0 / 3,
                 2 * 0.0021858491259780857, 0.03479495212987627, 0.04060764720383966});
  CHECK(found.is_drift);
  CHECK_FALSE(found.is_assumed);
  REQUIRE(found.drift);
  CHECK(*found.drift == about(0.021809023442626623));
  const std::vector<std::vector<double>> fewer(runs.begin() + 1, runs.end());
  CHECK_FALSE(judge({.base = newest_runs(fewer), .changed = {103.8}, .runs = fewer}, {}).drift);
}

TEST_CASE("judge: of a store, the newest 20 runs count, and the first 5 for the drift") {
  std::vector<std::vector<double>> runs;
  for (int i = 0; i < 25; ++i)
    runs.push_back({100 + (i * 7 % 5 - 2) * 0.8, 100 + (i * 3 % 7 - 3) * 0.5});
  const Judgement found =
      check_run(runs, {100.5, 99.8},
                {ChangeKind::ok, 0.001801404053223681, 0.007792749542470939, 4 + 2 * 19.0 / 3,
                 2 * 0.4122081461221263, 0.015830880207383703, 0.03478057400598893});
  REQUIRE(found.drift);
  CHECK(*found.drift == about(0.0009168790685684587));
  check_run(runs, {107, 107.5},
            {ChangeKind::regression, 0.07282640846860958, 0.007792749542470939, 4 + 2 * 19.0 / 3,
             2 * 5.673374035566652e-08, 0.08785053645871554, 0.03478057400598893});
}

TEST_CASE("judge: what would pass in a store is inconclusive if the mean of all steps rose") {
  const std::vector<std::vector<double>> runs{{100, 101}, {100.5, 100.2}, {100.1, 100.6}};
  Samples samples{.base = newest_runs(runs),
                  .changed = {100.2, 100.4},
                  .base_of_all = newest_runs(runs),
                  .changed_of_all = {112, 112.3},
                  .runs = runs,
                  .runs_of_all = runs};
  const Judgement found = judge(samples, {});
  CHECK(found.kind == ChangeKind::inconclusive);
  CHECK(found.is_vetoed);
  samples.changed_of_all = {104, 104.3};
  CHECK(judge(samples, {}).kind == ChangeKind::ok);
}

TEST_CASE("judge_family: the metrics share one chance of a false alarm") {
  const std::vector<double> base{100, 101, 99};
  const std::vector<Judgement> found = judge_family({{{base, {110, 111, 109}}},
                                                     {{base, {103.5, 104.4, 102.6}}},
                                                     {{base, {103.6, 104.4, 102.6}}},
                                                     {{base, base}}});
  REQUIRE(found.size() == 4);
  CHECK(found[0].kind == ChangeKind::regression);
  CHECK(found[0].alpha == about(0.0025));
  // The third one has the next p, 0.00527, which is not below 0.01 / 3.
  CHECK(found[2].kind == ChangeKind::inconclusive);
  CHECK(found[2].alpha == about(0.01 / 3));
  // The second one would be a regression alone: its p is 0.00542.
  CHECK(judge({base, {103.5, 104.4, 102.6}}, {}).kind == ChangeKind::regression);
  CHECK(found[1].kind == ChangeKind::inconclusive);
  CHECK(found[3].kind == ChangeKind::ok);
}

TEST_CASE("judge_family: a clear change below its floor does not stop the others") {
  JudgeOptions tolerant;
  tolerant.floor = tolerant.limit = 0.2;
  const std::vector<Judgement> found =
      judge_family({{{{100, 100.1, 99.9}, {115, 115.1, 114.9}}, tolerant},
                    {{{100, 101, 99}, {110, 111, 109}}, {}}});
  CHECK(found[0].kind == ChangeKind::ok);
  CHECK(found[0].alpha == about(0.005));
  CHECK(found[1].kind == ChangeKind::regression);
  CHECK(found[1].alpha == about(0.01));
}

TEST_CASE("judge_twice: a doubt is decided with all captures") {
  const Samples first{{100, 101, 99}, {102, 103.5, 101.5}};
  const Samples all{{100, 101, 99, 100.2, 100.8, 99.4}, {102, 103.5, 101.5, 103, 103.6, 102.8}};
  const SecondLook found = judge_twice({{first}}, {{all}});
  CHECK(found.looks == 2);
  CHECK(found.judgements[0].alpha == about(0.005));
  check(found.judgements[0],
        {ChangeKind::regression, 0.0266464474749315, 0.007946275480823951, 0.004587784287908631,
         9.488121657846689e-05, 0.011827067892275389, 0.035218789053306665});
}

TEST_CASE("judge_twice: a clear first look is the answer") {
  const Samples slow{{100, 101, 99}, {110, 111, 109}};
  const SecondLook slower = judge_twice({{slow}}, {{slow}});
  CHECK(slower.looks == 1);
  CHECK(slower.judgements[0].kind == ChangeKind::regression);
  CHECK(slower.judgements[0].bounds->lower == about(0.06118958136161856));
  const Samples fast{{100, 101, 99}, {90, 91, 89}};
  CHECK(judge_twice({{fast}}, {{fast}}).looks == 1);
}

TEST_CASE("judge_twice: a doubt about one metric takes the second look for all") {
  const Samples slow{{100, 101, 99}, {110, 111, 109}};
  const Samples noisy{{100, 104, 97}, {103, 99, 108}};
  CHECK(judge_twice({{slow}, {noisy}}, {{slow}, {noisy}}).looks == 2);
}

TEST_CASE("judge: in units, numbers may be 0") {
  JudgeOptions options;
  options.scale = ChangeScale::units;
  options.floor = 5;
  options.limit = 5;
  // The noise is 1, its error sqrt(2 / 3).
  const Judgement slower = judge({{0, 1, -1}, {10, 11, 9}}, options);
  CHECK(slower.kind == ChangeKind::regression);
  CHECK(slower.change == about(10));
  CHECK(slower.bounds->noise == about(1));
  CHECK(slower.bounds->error == about(0.816496580927726));
  CHECK(slower.bounds->lower == about(10 - 3.746947387979197 * 0.816496580927726));
  CHECK(judge({{0, 1, -1}, {0, 1, -1}}, options).kind == ChangeKind::ok);
}

TEST_CASE("judge: a limit has no noise of its own") {
  JudgeOptions options;
  options.scale = ChangeScale::units;
  options.floor = 0;
  options.limit = 0;
  const Samples above{{5}, {7, 8, 6}, {}, true};
  const Judgement found = judge(above, options);
  CHECK(found.freedom == 2);
  CHECK(found.bounds->error == about(0.5773502691896258));
  // t is 2 / 0.577 = 3.46 with 2 degrees of freedom, p 0.0371: 4 captures find twice that t.
  CHECK(found.kind == ChangeKind::inconclusive);
  CHECK(judge({{50}, {7, 8, 6}, {}, true}, options).kind == ChangeKind::improvement);
}

}  // namespace
}  // namespace traceloom
