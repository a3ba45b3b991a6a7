#include "clock/collective_rounds.h"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

using namespace traceloom;
using Outcome = CollectiveFit::Outcome;

namespace {

// A round that all ranks leave together, 100 us after the last one came. Each clock is ahead by its
// entry of `ahead_ns`.
CollectiveRound meeting(std::int64_t at_ns, const std::vector<std::int64_t>& comes_ns,
                        const std::vector<std::int64_t>& ahead_ns) {
  std::int64_t last_ns = 0;
  for (const std::int64_t ns : comes_ns) last_ns = std::max(last_ns, ns);
  CollectiveRound round;
  for (std::size_t i = 0; i < comes_ns.size(); ++i)
    round.parts.push_back(
        {i, at_ns + comes_ns[i] + ahead_ns[i], at_ns + last_ns + 100'000 + ahead_ns[i]});
  return round;
}

}  // namespace

TEST_CASE("one collective gives a range and, by its ends, an estimate in it") {
  const std::vector<CollectiveRound> rounds{{.parts = {{0, 100, 200}, {1, 1'150, 1'203}}}};
  const std::vector<CollectiveFit> fits = fit_clocks(2, 0, 150, rounds);
  CHECK(fits[0].outcome == Outcome::reference);
  CHECK(fits[1].outcome == Outcome::fitted);
  CHECK(fits[1].ahead_ns == 1'003);
  // A clock may drift by 500 ppm, which is a nanosecond here at each end.
  CHECK(fits[1].ahead == ClockRange{949, 1'104});
  CHECK(fits[1].bound_ns() == 101);
  CHECK(fits[1].error_ns(950) == 154);
}

TEST_CASE("an estimate by ends stays within what all rounds allow for") {
  // The second rank always leaves 30 us late; the third round shows that by coming late.
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 3; ++i)
    rounds.push_back({.parts = {{0, i * 1'000, i * 1'000 + 90}, {1, i * 1'000, i * 1'000 + 120}}});
  rounds.push_back({.parts = {{0, 3'080, 3'110}, {1, 3'000, 3'100}}});
  const CollectiveFit fit = fit_clocks(2, 0, 1'500, rounds)[1];
  CHECK(fit.ahead.high_ns == 21);
  CHECK(fit.ahead_ns == 21);
}

TEST_CASE("nothing better is claimed than three per cent of the shortest collective") {
  std::vector<CollectiveRound> rounds{
      {.parts = {{0, 0, 40'000'000}, {1, 39'999'000, 40'000'000 + 39'999'000}}}};
  rounds.push_back({.parts = {{0, 139'999'000, 179'999'000}, {1, 100'000'000, 179'999'500}}});
  const CollectiveFit fit = fit_clocks(2, 0, 0, rounds)[1];
  CHECK(fit.least_error_ns == 1'200'000);
  CHECK(fit.bound_ns() >= 1'200'000);
}

TEST_CASE("a message limits one side only") {
  const std::vector<CollectiveRound> there{
      {.parts = {{0, 100, 200}, {1, 1'100, 1'190}}, .is_message = true}};
  const CollectiveFit one = fit_clocks(2, 0, 150, there)[1];
  CHECK(one.ahead.low_ns == std::numeric_limits<std::int64_t>::min());
  CHECK(one.ahead.high_ns == 1'091);
  std::vector<CollectiveRound> both = there;
  both.push_back({.parts = {{1, 1'300, 1'350}, {0, 310, 340}}, .is_message = true});
  const CollectiveFit two = fit_clocks(2, 0, 150, both)[1];
  CHECK(two.ahead == ClockRange{959, 1'091});
  CHECK(two.ahead_ns == 1'025);  // the middle: ends of messages promise nothing
}

TEST_CASE("what leads over a third clock adds up") {
  const std::vector<CollectiveRound> rounds{{.parts = {{0, 0, 100}, {1, 40, 150}}},
                                            {.parts = {{1, 200, 250}, {2, 1'200, 1'260}}}};
  const std::vector<CollectiveFit> fits = fit_clocks(3, 0, 100, rounds);
  CHECK(fits[2].outcome == Outcome::fitted);
  CHECK(fits[2].partner == 1);
  CHECK(fits[2].ahead_ns == 50 + 1'010);
}

TEST_CASE("a long chain of clocks is followed to its end, however its rounds are sorted") {
  constexpr std::size_t kClocks = 20'000;
  std::vector<CollectiveRound> rounds;
  for (std::size_t i = kClocks - 1; i > 0; --i) {
    const auto at_ns = static_cast<std::int64_t>(i);
    rounds.push_back({.parts = {{i - 1, at_ns - 1, at_ns + 99}, {i, at_ns, at_ns + 100}}});
  }
  const std::vector<CollectiveFit> fits = fit_clocks(kClocks, 0, 0, rounds);
  CHECK(fits.back().outcome == Outcome::fitted);
  CHECK(fits.back().partner == kClocks - 2);
  CHECK(fits.back().ahead_ns == kClocks - 1);
}

TEST_CASE("clocks without a collective in common are not compared") {
  const std::vector<CollectiveRound> rounds{{.parts = {{1, 200, 250}, {2, 1'200, 1'260}}}};
  const std::vector<CollectiveFit> fits = fit_clocks(3, 0, 100, rounds);
  CHECK(fits[1].outcome == Outcome::unconnected);
  CHECK(fits[2].outcome == Outcome::unconnected);
}

TEST_CASE("a clock that was set between collectives is refused, and by how much is told") {
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 40; ++i)
    rounds.push_back(meeting(i * 5'000'000, {0, i % 7 * 10'000, i % 5 * 10'000},
                             {0, 7'000, i < 20 ? 0 : 4'000'000}));
  const std::vector<CollectiveFit> fits = fit_clocks(3, 0, 100'000'000, rounds);
  CHECK(fits[1].outcome == Outcome::fitted);
  CHECK(fits[1].ahead_ns == 7'000);
  CHECK(fits[2].outcome == Outcome::contradiction);
  CHECK(fits[2].change_ns == 4'000'000);
  CHECK(fits[2].ahead_ns == 4'000'000);
}

TEST_CASE("a clock that was set and set back is refused, and by how much is told") {
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 40; ++i)
    rounds.push_back(meeting(i * 5'000'000, {0, i % 7 * 10'000},
                             {0, i % 3 * 500 + (i < 10 || i >= 30 ? 0 : 400'000)}));
  const CollectiveFit fit = fit_clocks(2, 0, 100'000'000, rounds)[1];
  CHECK(fit.outcome == Outcome::contradiction);
  CHECK(fit.was_set);
  CHECK(fit.came_back);
  CHECK(fit.change_ns >= 399'500);
  CHECK(fit.change_ns <= 400'500);
}

TEST_CASE("of clocks in a circle, the one without which the others fit is refused") {
  // Clock 3 was set between messages that it receives from 1 and 4, which limit it on one side, and
  // messages that it sends to 2 and 5, which limit it on the other. 4 and 5 are placed after it.
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 10; ++i) {
    const auto add = [&](std::size_t from, std::size_t to, bool is_message) {
      const auto part = [&](std::size_t clock) {
        const std::int64_t at_ns = i * 1'000'000 + (clock == 3 && i >= 5 ? 4'000'000 : 0);
        return RoundPart{clock, at_ns, at_ns + 50'000};
      };
      rounds.push_back({.parts = {part(from), part(to)}, .is_message = is_message});
    };
    add(0, 1, false);
    add(0, 2, false);
    for (const auto& [a, b] : {std::pair(1, 4), {2, 5}}) {
      add(a, b, true);
      add(b, a, true);
    }
    for (const auto& [receives, sends] : {std::pair(1, 2), {4, 5}})
      i < 5 ? add(receives, 3, true) : add(3, sends, true);
  }
  const std::vector<CollectiveFit> fits = fit_clocks(6, 0, 0, rounds);
  CHECK(fits[3].outcome == Outcome::contradiction);
  CHECK(fits[3].is_least_change);
  CHECK(fits[3].change_ns >= 3'750'000);
  CHECK(fits[3].change_ns <= 4'000'000);
  for (const std::size_t other : {1, 2, 4, 5}) CHECK(fits[other].outcome == Outcome::fitted);
}

TEST_CASE("a clock that runs faster is known by its slope, and where it is in the middle") {
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 40; ++i)
    rounds.push_back(
        meeting(i * 5'000'000, {0, i % 7 * 10'000}, {0, 800'000 + (i - 20) * 5 * 400}));  // 400 ppm
  const CollectiveFit fit = fit_clocks(2, 0, 100'100'000, rounds)[1];
  CHECK(fit.outcome == Outcome::fitted);
  CHECK(fit.slope == doctest::Approx(400e-6).epsilon(0.01));
  CHECK(std::abs(fit.ahead_ns - 800'000) < 500);
  CHECK(fit.bound_ns() < 150'000);
}

TEST_CASE("a clock that was set by less than ranks wait is refused, and is no drift") {
  // Both ranks wait up to half a millisecond for the other, so the ranges alone allow for 80 us.
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 40; ++i)
    rounds.push_back(meeting(i * 5'000'000, {i % 2 * 1'000'000, 500'000},
                             {0, 7'000 + i % 3 * 300 + (i < 20 ? 0 : 80'000)}));
  const CollectiveFit fit = fit_clocks(2, 0, 100'000'000, rounds)[1];
  CHECK(fit.outcome == Outcome::contradiction);
  CHECK(fit.was_set);
  CHECK(fit.excess_slope == 0);
  CHECK(fit.change_ns >= 79'700);
  CHECK(fit.change_ns <= 80'300);
}

TEST_CASE("nothing better is claimed than the ends of the shortest collectives are apart") {
  // It was set there and back, which is no single jump.
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 7; ++i)
    rounds.push_back(
        meeting(i * 5'000'000, {i % 2 * 1'000'000, 500'000}, {0, i < 3 || i >= 5 ? 0 : 80'000}));
  const CollectiveFit fit = fit_clocks(2, 0, 15'000'000, rounds)[1];
  CHECK(fit.outcome == Outcome::fitted);
  CHECK(fit.scatter_ns >= 79'000);
  CHECK(fit.bound_ns() >= 79'000);
}

TEST_CASE("a clock that drifts faster than clocks do was not set") {
  std::vector<CollectiveRound> rounds;
  for (std::int64_t i = 0; i < 40; ++i)  // 3,000 ppm
    rounds.push_back(meeting(i * 5'000'000, {0, i % 7 * 10'000}, {0, i * 15'000}));
  const CollectiveFit fit = fit_clocks(2, 0, 100'000'000, rounds)[1];
  CHECK(fit.outcome == Outcome::contradiction);
  CHECK_FALSE(fit.was_set);
  CHECK(fit.excess_slope == doctest::Approx(3000e-6).epsilon(0.01));
}

TEST_CASE("a jump is found beside a drift, and ends that scatter show none") {
  const auto round = [](std::int64_t i, std::int64_t ends_ns) {
    return PairedRound{i * 5'000'000, ends_ns, {}, 20'000, 20'000};
  };
  std::vector<PairedRound> set;
  std::vector<PairedRound> scattered;
  for (std::int64_t i = 0; i < 40; ++i) {
    set.push_back(round(i, i * 5 * 50 + (i < 12 ? 0 : -75'000)));  // 50 ppm
    scattered.push_back(round(i, i * 7 % 5 * 10'000 + (i < 12 ? 0 : -75'000)));
  }
  CHECK(slope_of(set).jump_ns == -75'000);
  CHECK(slope_of(set).slope == 0);
  CHECK(slope_of(set).uncertainty == doctest::Approx(500e-6));
  CHECK(slope_of(scattered).jump_ns == 0);
  set.resize(13);  // one round after it shows nothing
  CHECK(slope_of(set).jump_ns == 0);
}

TEST_CASE("slopes that ends cannot tell are allowed for instead") {
  CHECK(slope_of({}).slope == 0);
  CHECK(slope_of({}).uncertainty == doctest::Approx(500e-6));
  std::vector<PairedRound> rounds;
  for (std::int64_t i = 0; i < 20; ++i)  // milliseconds apart, as with gloo
    rounds.push_back({i * 10'000'000, i * 7 % 5 * 1'000'000, {}, 1'000'000, 1'000'000});
  CHECK(slope_of(rounds).slope == 0);
  CHECK(slope_of(rounds).uncertainty == doctest::Approx(500e-6));
}

TEST_CASE("the ends of the shortest collectives count") {
  std::vector<PairedRound> rounds;
  for (std::int64_t i = 0; i < 10; ++i)
    rounds.push_back({i, i < 7 ? 5 : 500, {-1'000, 1'000}, i < 7 ? 10 : 1'000, 10});
  const PairFit fit = fit_pair(rounds);
  CHECK(fit.ends_ns == 5);
  CHECK(fit.residual_p50_ns == 0);
  CHECK(fit.residual_p95_ns == 495);
  CHECK(fit.moving_ns == 10);
  CHECK(fit.first_ends_ns == 5);
  CHECK(fit.last_ends_ns == 500);
}
