// Many ranks at generated barriers, on clocks whose offset and drift are known: how far align() is
// from the truth, and whether it says so.
#include "clock/clock_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

using namespace traceloom;

namespace {

struct DriftingClock {
  std::int64_t offset_ns = 0;
  std::int64_t ppm = 0;
  // Returns the time that the clock shows at the true time.
  std::int64_t at(std::int64_t true_ns) const {
    return true_ns + offset_ns + (true_ns - kNowNs) / 1000 * ppm / 1000;
  }
};

class Barriers {
 public:
  Barriers(unsigned seed, std::size_t ranks) : random_(seed), clocks_(ranks) {
    for (DriftingClock& clock : clocks_) {
      clock.offset_ns = between(-2'000'000'000, 2'000'000'000);
      clock.ppm = between(-60, 60);
    }
  }

  const std::vector<DriftingClock>& clocks() const { return clocks_; }

  // Makes all ranks arrive within some 20 ms after `true_ns`. Each round takes some 20 us; from
  // time to time a rank is woken late.
  std::vector<SyncRounds> meet(std::int64_t true_ns) {
    std::vector<SyncRounds> stamps(clocks_.size());
    std::vector<std::int64_t> ready(clocks_.size());
    for (std::int64_t& ns : ready) ns = true_ns + waiting(5'000'000);
    for (int round = 0; round < 16; ++round) {
      const std::int64_t all_in = *std::max_element(ready.begin(), ready.end());
      for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
        stamps[rank].enter_ns.push_back(clocks_[rank].at(ready[rank]));
        const bool sleeps = between(0, 99) == 0;
        const std::int64_t left = all_in + 2'000 + waiting(sleeps ? 2'000'000 : 20'000);
        stamps[rank].exit_ns.push_back(clocks_[rank].at(left));
        ready[rank] = left + 100 + waiting(1'000);
      }
    }
    return stamps;
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::int64_t waiting(std::int64_t mean_ns) {
    const double share = static_cast<double>(random_() >> 11) / 9007199254740992.0;  // 2^53
    return static_cast<std::int64_t>(-std::log1p(-share) * static_cast<double>(mean_ns));
  }

  std::mt19937_64 random_;
  std::vector<DriftingClock> clocks_;
};

constexpr std::int64_t kCycleNs = 2'000'000'000;

// Returns Composer's sync: a stamp between two barriers, with the time of both as its bound.
ClockFacts composers(std::int64_t rank, const SyncRounds& rounds) {
  return synced(rank, rounds.exit_ns[0] / 1000, "ba0",
                (rounds.exit_ns[1] - rounds.enter_ns[0]) / 1000);
}

std::vector<ClockFacts> recorded(Barriers& barriers) {
  std::vector<ClockFacts> files;
  const std::vector<SyncRounds> start = barriers.meet(kNowNs);
  const std::vector<SyncRounds> end = barriers.meet(kNowNs + kCycleNs);
  for (std::size_t rank = 0; rank < start.size(); ++rank) {
    files.push_back(composers(static_cast<std::int64_t>(rank), start[rank]));
    files.back().rounds = {start[rank], end[rank]};
  }
  return files;
}

// Returns the greatest distance of a file from rank 0 between the syncs.
std::int64_t error_of(const FileClock& clock, const DriftingClock& own,
                      const DriftingClock& reference) {
  std::int64_t worst_ns = 0;
  for (std::int64_t passed = 100'000'000; passed <= kCycleNs; passed += 100'000'000) {
    const std::int64_t true_ns = kNowNs + passed;
    const std::int64_t common_ns = clock.times.mapped_or_same(own.at(true_ns));
    worst_ns = std::max(worst_ns, std::abs(common_ns - reference.at(true_ns)));
  }
  return worst_ns;
}

struct Result {
  int violations = 0;
  double error_ns = 0;  // sums over all files
  double bound_ns = 0;  // stated bound
  double composers_error_ns = 0;
  double composers_bound_ns = 0;
};

Result measured(DriftMode drift, std::size_t ranks, unsigned trials) {
  Result result;
  for (unsigned seed = 1; seed <= trials; ++seed) {
    Barriers barriers(seed, ranks);
    const std::vector<ClockFacts> files = recorded(barriers);
    std::vector<ClockFacts> without = files;
    for (ClockFacts& file : without) file.rounds = {};
    const std::vector<FileClock> clocks = align(files, {.drift = drift});
    const std::vector<FileClock> by_sync = align(without, {.drift = drift});
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      REQUIRE(clocks[rank].method == ClockMethod::rounds);
      const DriftingClock& own = barriers.clocks()[rank];
      const DriftingClock& reference = barriers.clocks()[0];
      const std::int64_t error_ns = error_of(clocks[rank], own, reference);
      if (error_ns > *clocks[rank].error_ns) ++result.violations;
      result.error_ns += static_cast<double>(error_ns);
      result.bound_ns += static_cast<double>(*clocks[rank].error_ns);
      result.composers_error_ns += static_cast<double>(error_of(by_sync[rank], own, reference));
      result.composers_bound_ns += static_cast<double>(*files[rank].error_bound_us) * 1000;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("generated rounds: on a line no bound is broken, and all is far below Composer's") {
  for (const std::size_t ranks : {2U, 4U, 8U, 64U}) {
    const Result result = measured(DriftMode::linear, ranks, ranks == 64 ? 10 : 100);
    CHECK(result.violations == 0);
    CHECK(result.bound_ns * 100 < result.composers_bound_ns);
    CHECK(result.error_ns * 5 < result.composers_error_ns);
    CHECK(result.error_ns < result.bound_ns);
  }
}

TEST_CASE("generated rounds: without drift the bound is wider, and holds as well") {
  for (const std::size_t ranks : {2U, 4U, 8U}) {
    const Result result = measured(DriftMode::constant, ranks, 100);
    CHECK(result.violations == 0);
    CHECK(result.bound_ns * 10 < result.composers_bound_ns);
    CHECK(result.error_ns * 1.5 < result.composers_error_ns);
    CHECK(result.error_ns < result.bound_ns);
  }
}
