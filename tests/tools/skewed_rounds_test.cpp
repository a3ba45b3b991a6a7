// Processes really meet at a barrier, with clocks skewed like those of trace-record demo. The error
// of a merge must not exceed the bound that it states.
#include "clock/alignment.h"
#include "record/buffers/clock.h"
#include "support/child_process.h"
#include "trace_record/demo_team.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr std::size_t kRanks = 3;
constexpr std::size_t kRounds = 16;

// The stamps of both ends of a cycle, on the one clock that all processes share.
struct Stamps {
  std::array<std::array<std::uint64_t, kRounds>, 2> enter;
  std::array<std::array<std::uint64_t, kRounds>, 2> exit;
};

class SharedStamps {
 public:
  SharedStamps() {
    void* const memory = mmap(nullptr, sizeof(Stamps) * kRanks, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    stamps_ = static_cast<Stamps*>(memory);
  }
  ~SharedStamps() { munmap(stamps_, sizeof(Stamps) * kRanks); }
  SharedStamps(const SharedStamps&) = delete;
  SharedStamps& operator=(const SharedStamps&) = delete;
  Stamps& operator[](std::size_t rank) const { return stamps_[rank]; }

 private:
  Stamps* stamps_;
};

void stamp_cycle(DemoTeam& team, Stamps& stamps) {
  for (std::size_t end = 0; end < 2; ++end) {
    const record::SyncRounds rounds = meet([&] { team.barrier(); }, kRounds);
    std::copy(rounds.enter.begin(), rounds.enter.end(), stamps.enter[end].begin());
    std::copy(rounds.exit.begin(), rounds.exit.end(), stamps.exit[end].begin());
    if (end == 0) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
}

traceloom::SyncRounds shown(const Stamps& stamps, std::size_t end, const ClockSkew& skew) {
  traceloom::SyncRounds rounds;
  for (std::size_t i = 0; i < kRounds; ++i) {
    rounds.enter_ns.push_back(skew.shown(static_cast<std::int64_t>(stamps.enter[end][i])));
    rounds.exit_ns.push_back(skew.shown(static_cast<std::int64_t>(stamps.exit[end][i])));
  }
  return rounds;
}

void check_bounds(const SharedStamps& stamps, const DemoOptions& options, DriftMode drift) {
  std::vector<ClockFacts> files;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto number = static_cast<std::int64_t>(rank);
    const ClockSkew skew = skew_of(options, number);
    ClockFacts file{.rank = number, .cycle = "ba0"};
    file.rounds.start = shown(stamps[rank], 0, skew);
    file.rounds.end = shown(stamps[rank], 1, skew);
    file.sync_us = file.rounds.start.exit_ns[0] / 1000;
    files.push_back(file);
  }
  const std::vector<FileClock> clocks = align(files, {.drift = drift});
  const auto from_ns = static_cast<std::int64_t>(stamps[0].exit[0].back());
  const auto to_ns = static_cast<std::int64_t>(stamps[0].enter[1].front());
  for (std::size_t rank = 1; rank < kRanks; ++rank) {
    CHECK(clocks[rank].method == ClockMethod::rounds);
    const ClockSkew skew = skew_of(options, static_cast<std::int64_t>(rank));
    std::int64_t worst_ns = 0;
    for (std::int64_t ns = from_ns; ns <= to_ns; ns += (to_ns - from_ns) / 8 + 1)
      worst_ns =
          std::max(worst_ns, std::abs(clocks[rank].times.mapped_or_same(skew.shown(ns)) - ns));
    CHECK(worst_ns <= clocks[rank].error_ns);
    CHECK(clocks[rank].error_ns < 1'000'000'000);
  }
}

}  // namespace

TEST_CASE("skewed rounds: the truth is within the bound, with and without drift") {
  choose_clock(ClockChoice::monotonic);
  DemoTeam team(kRanks, 1);
  const SharedStamps stamps;
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    children.push_back(start_child([&] { stamp_cycle(team, stamps[rank]); }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  DemoOptions options;
  options.clock_skew_ns = 3'000'000;
  options.started_ns = static_cast<std::int64_t>(stamps[0].enter[0].front());
  for (const std::int64_t ppm : {0, 40, -200}) {
    CAPTURE(ppm);
    options.clock_drift_ppm = ppm;
    check_bounds(stamps, options, DriftMode::constant);
    check_bounds(stamps, options, DriftMode::linear);
  }
}
