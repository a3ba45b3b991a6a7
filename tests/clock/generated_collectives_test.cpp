// Jobs with generated collectives and messages, on clocks whose offset and drift are known: how far
// fit_clocks() is from the truth, and whether it says so.
#include "clock/collective_rounds.h"
#include "oracle/clock_bounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace traceloom;
using Outcome = CollectiveFit::Outcome;

namespace {

constexpr std::int64_t kBeginNs = 1'800'000'000'000'000'000;

struct Clock {
  std::int64_t offset_ns = 0;
  std::int64_t ppm = 0;
  std::int64_t set_by_ns = 0;  // from `set_at_ns` on
  std::int64_t set_at_ns = 0;
  std::int64_t at(std::int64_t ns) const { return kBeginNs + ns + ahead(ns); }
  std::int64_t ahead(std::int64_t ns) const {
    return offset_ns + ns / 1000 * ppm / 1000 + (ns >= set_at_ns ? set_by_ns : 0);
  }
};

// How long collectives move data, and who comes to them when.
struct Style {
  std::int64_t least_ns = 20'000;
  std::int64_t most_ns = 200'000;
  std::int64_t apart_ns = 400'000;  // how far ranks come apart
  std::int64_t late_ns = 0;         // the last rank comes so much later, always
};

class Job {
 public:
  Job(unsigned seed, std::size_t ranks, std::int64_t most_ppm, Style style = {})
      : random_(seed), clocks_(ranks), style_(style) {
    for (std::size_t rank = 1; rank < ranks; ++rank)
      clocks_[rank] = {between(-2'000'000'000, 2'000'000'000), between(-most_ppm, most_ppm), 0, 0};
  }

  void set_clock(std::size_t rank, std::int64_t by_ns, std::int64_t at_ns) {
    clocks_[rank].set_by_ns = by_ns;
    clocks_[rank].set_at_ns = at_ns;
  }

  // Makes `members` meet: they come one after another and leave within a microsecond, or within 3 %
  // of the time if it is more than a millisecond.
  void meet(std::int64_t at_ns, const std::vector<std::size_t>& members) {
    std::int64_t last_ns = 0;
    std::vector<std::int64_t> comes_ns;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool is_late = members[i] + 1 == clocks_.size();
      comes_ns.push_back(at_ns + between(0, style_.apart_ns) + (is_late ? style_.late_ns : 0));
      last_ns = std::max(last_ns, comes_ns.back());
    }
    const std::int64_t moving_ns = between(style_.least_ns, style_.most_ns);
    last_ns += moving_ns;
    const std::int64_t skew_ns = moving_ns > 1'000'000 ? moving_ns / 100 * 3 : 1'000;
    CollectiveRound round;
    for (std::size_t i = 0; i < members.size(); ++i)
      round.parts.push_back({members[i], clocks_[members[i]].at(comes_ns[i]),
                             clocks_[members[i]].at(last_ns + between(0, skew_ns))});
    rounds_.push_back(std::move(round));
    last_ns_ = std::max(last_ns_, last_ns);
  }

  void send(std::int64_t at_ns, std::size_t from, std::size_t to) {
    const std::int64_t sent_ns = at_ns + between(0, 300'000);
    const std::int64_t wanted_ns = at_ns + between(0, 300'000);
    const std::int64_t got_ns = std::max(sent_ns, wanted_ns) + between(10'000, 90'000);
    // It may be gone before anybody wants it.
    const std::int64_t gone_ns = between(0, 1) == 0 ? sent_ns + 5'000 : got_ns;
    rounds_.push_back({{{from, clocks_[from].at(sent_ns), clocks_[from].at(gone_ns)},
                        {to, clocks_[to].at(wanted_ns), clocks_[to].at(got_ns)}},
                       true});
    last_ns_ = std::max(last_ns_, got_ns);
  }

  // Steps of pairs, of messages along a line, and of all where that is asked for.
  void train(int steps, bool all_meet) {
    const std::int64_t step_ns = 6'000'000 + 3 * style_.most_ns + 3 * style_.late_ns;
    for (int step = 0; step < steps; ++step) {
      const std::int64_t at_ns = step * step_ns;
      for (std::size_t rank = 0; rank + 1 < clocks_.size(); rank += 2)
        meet(at_ns + between(0, 900'000), {rank, rank + 1});
      for (std::size_t rank = 0; rank + 1 < clocks_.size(); ++rank) {
        send(at_ns + 2'000'000, rank, rank + 1);
        send(at_ns + 3'000'000, rank + 1, rank);
      }
      std::vector<std::size_t> all;
      for (std::size_t rank = 0; rank < clocks_.size(); ++rank) all.push_back(rank);
      if (all_meet) meet(at_ns + 4'000'000, all);
    }
  }

  std::vector<CollectiveFit> fit() const {
    return fit_clocks(clocks_.size(), 0, clocks_[0].at(last_ns_ / 2), rounds_);
  }
  std::int64_t true_ahead_ns(std::size_t rank) const { return clocks_[rank].ahead(last_ns_ / 2); }
  std::size_t ranks() const { return clocks_.size(); }
  std::int64_t span_ns() const { return last_ns_; }

  std::vector<std::pair<std::int64_t, std::int64_t>> bounds() const {
    std::vector<oracle::Round> rounds;
    for (const CollectiveRound& round : rounds_) {
      rounds.push_back({{}, round.is_message});
      for (const RoundPart& part : round.parts)
        rounds.back().parts.push_back({part.clock, part.begin_ns, part.end_ns});
    }
    return oracle::clock_bounds(clocks_.size(), rounds);
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  std::mt19937_64 random_;
  std::vector<Clock> clocks_;
  Style style_;
  std::vector<CollectiveRound> rounds_;
  std::int64_t last_ns_ = 0;
};

}  // namespace

TEST_CASE("the true clock is within the bound that is told, whatever the clocks do") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Job job(seed, 2 + seed % 7, seed % 3 == 0 ? 0 : 400);
    const bool all_meet = seed % 2 == 0;
    job.train(3 + static_cast<int>(seed % 20), all_meet);
    const std::vector<CollectiveFit> fits = job.fit();
    for (std::size_t rank = 1; rank < job.ranks(); ++rank) {
      CAPTURE(seed);
      CAPTURE(rank);
      REQUIRE(fits[rank].outcome == Outcome::fitted);
      const std::int64_t error_ns = std::abs(fits[rank].ahead_ns - job.true_ahead_ns(rank));
      CHECK(error_ns <= fits[rank].bound_ns());
      CHECK(fits[rank].ahead.holds(fits[rank].ahead_ns));
      CHECK(fits[rank].bound_ns() < 5'000'000);
      if (all_meet) CHECK(error_ns < 25'000);
    }
  }
}

// Nothing of it was there when the estimator was chosen.
TEST_CASE("the true clock is within the bound also of few, long and uneven collectives") {
  struct Kind {
    Style style;
    std::int64_t typical_ns;  // at most, where all meet
  };
  const std::vector<Kind> kinds{
      {{}, 1'000},
      {{.apart_ns = 3'000'000}, 1'000},
      {{.late_ns = 900'000}, 1'000},
      {{.least_ns = 8'000, .most_ns = 8'000, .apart_ns = 0}, 1'000},
      {{.least_ns = 10'000'000, .most_ns = 60'000'000}, 400'000},
      {{.least_ns = 30'000'000, .most_ns = 40'000'000, .apart_ns = 9'000'000}, 600'000}};
  std::size_t sets = 0;
  for (const Kind& kind : kinds) {
    std::vector<std::int64_t> errors;
    for (unsigned seed = 2'000; seed < 2'040; ++seed, ++sets) {
      Job job(seed, 2 + seed % 11, std::vector<std::int64_t>{0, 5, 50, 450}[seed % 4], kind.style);
      const bool all_meet = seed % 3 != 0;
      job.train(1 + static_cast<int>(seed % 9), all_meet);
      const std::vector<CollectiveFit> fits = job.fit();
      for (std::size_t rank = 1; rank < job.ranks(); ++rank) {
        CAPTURE(&kind - kinds.data());
        CAPTURE(seed);
        CAPTURE(rank);
        REQUIRE(fits[rank].outcome == Outcome::fitted);
        const std::int64_t error_ns = std::abs(fits[rank].ahead_ns - job.true_ahead_ns(rank));
        CHECK(error_ns <= fits[rank].bound_ns());
        CHECK(fits[rank].bound_ns() >= kind.style.least_ns / 100 * 3);
        if (all_meet) errors.push_back(error_ns);
      }
    }
    std::sort(errors.begin(), errors.end());
    CAPTURE(&kind - kinds.data());
    CHECK(errors[errors.size() / 2] <= kind.typical_ns);
  }
  CHECK(sets == 240);
}

TEST_CASE("a clock that was set by little is refused, or its bound holds before and after") {
  std::size_t refused = 0;
  for (unsigned seed = 3'000; seed < 3'200; ++seed) {
    const bool is_patient =
        seed % 2 == 0;  // ranks wait for each other longer than the clock is off
    Job job(seed, 2 + seed % 3, std::vector<std::int64_t>{0, 5, 50}[seed % 3],
            {.apart_ns = is_patient ? 2'000'000 : 100'000});
    const std::int64_t by_ns = (20 + 5 * static_cast<std::int64_t>(seed % 17)) * 1'000;
    job.set_clock(1, seed % 4 < 2 ? by_ns : -by_ns, 70'000'000);
    job.train(20, true);
    const CollectiveFit fit = job.fit()[1];
    CAPTURE(seed);
    CAPTURE(by_ns);
    refused += fit.outcome == Outcome::contradiction ? 1 : 0;
    if (fit.outcome == Outcome::contradiction) continue;
    CHECK(std::abs(fit.ahead_ns - job.true_ahead_ns(1)) <= fit.bound_ns());
    CHECK(std::abs(fit.ahead_ns - job.true_ahead_ns(1) + by_ns) <= fit.bound_ns());
  }
  CHECK(refused == 200);
}

TEST_CASE("without drift the range is that of the oracle, but for the drift allowed") {
  for (unsigned seed = 100; seed < 140; ++seed) {
    Job job(seed, 2 + seed % 7, 0);
    job.train(2 + static_cast<int>(seed % 20), seed % 2 == 0);
    const std::vector<CollectiveFit> fits = job.fit();
    const auto bounds = job.bounds();
    // Each clock on a path adds at most 500 ppm of half the time, on both sides of a round.
    const std::int64_t allowed_ns =
        job.span_ns() / 2'000 * static_cast<std::int64_t>(2 * job.ranks() * job.ranks());
    for (std::size_t rank = 1; rank < job.ranks(); ++rank) {
      CAPTURE(seed);
      CAPTURE(rank);
      CHECK(fits[rank].ahead.low_ns <= bounds[rank].first + 2'000);
      CHECK(fits[rank].ahead.high_ns >= bounds[rank].second - 2'000);
      CHECK(fits[rank].ahead.low_ns >= bounds[rank].first - allowed_ns);
      CHECK(fits[rank].ahead.high_ns <= bounds[rank].second + allowed_ns);
    }
  }
}

TEST_CASE("the oracle finds contradictions and paths") {
  using oracle::clock_bounds;
  const std::vector<oracle::Round> rounds{{{{0, 0, 100}, {1, 40, 150}}, false},
                                          {{{1, 200, 250}, {2, 1'200, 1'260}}, true}};
  const auto bounds = clock_bounds(3, rounds);
  CHECK(bounds[1] == std::pair<std::int64_t, std::int64_t>{-60, 150});
  CHECK(bounds[2] == std::pair<std::int64_t, std::int64_t>{-oracle::kFar, 1'210});
  const auto wrong =
      clock_bounds(2, {{{{0, 0, 10}, {1, 0, 10}}, false}, {{{0, 100, 110}, {1, 150, 160}}, false}});
  CHECK(wrong[1].first > wrong[1].second);
}
