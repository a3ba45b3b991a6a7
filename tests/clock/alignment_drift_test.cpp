// align() with ranks that have several clock syncs.
#include "clock/clock_files.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

constexpr std::int64_t kSecondUs = 1'000'000;

// Cycles a minute apart; rank 1 is 2 s ahead and gains `gained_us` in each.
std::vector<ClockFacts> two_ranks(const std::vector<std::int64_t>& gained_us) {
  std::vector<ClockFacts> files;
  for (std::size_t i = 0; i < gained_us.size(); ++i) {
    const std::int64_t at_us = kNowUs + static_cast<std::int64_t>(i) * 60 * kSecondUs;
    const std::string cycle = "ba" + std::to_string(i);
    files.push_back(synced(0, at_us, cycle, 5));
    files.push_back(synced(1, at_us + 2 * kSecondUs + gained_us[i], cycle, 5));
  }
  return files;
}

std::vector<std::optional<double>> drifts(const std::vector<ClockFacts>& files) {
  std::vector<std::optional<double>> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.drift_ppm);
  return result;
}

std::int64_t mapped(const FileClock& clock, std::int64_t file_ns) {
  std::int64_t common_ns = 0;
  REQUIRE(clock.times.map(file_ns, common_ns));
  return common_ns;
}

using Drifts = std::vector<std::optional<double>>;
constexpr std::optional<double> kUnknown = std::nullopt;

}  // namespace

TEST_CASE("alignment: drift is measured between syncs, and changes nothing unless asked for") {
  const std::vector<ClockFacts> files = two_ranks({0, 6'000, 0});
  CHECK(drifts(files) == Drifts{0, 99.99, 0, -100.01, 0, -100.01});
  CHECK(offsets(files) == Ns{0, -2'000'000'000, 0, -2'006'000'000, 0, -2'000'000'000});
  for (const FileClock& clock : align(files)) {
    CHECK_FALSE(clock.times.has_drift());
    CHECK(clock.problems.empty());
  }
  CHECK(drifts(two_ranks({0})) == Drifts{kUnknown, kUnknown});
}

TEST_CASE("alignment: with linear drift the shift goes straight from sync to sync") {
  const std::vector<ClockFacts> files = two_ranks({0, 6'000, 0});
  const std::vector<FileClock> clocks = align(files, kLinear);
  CHECK(offsets(files)[3] == clocks[3].offset_ns);
  CHECK_FALSE(clocks[0].times.has_drift());
  for (const std::size_t file : {1U, 3U, 5U}) {
    // before the first sync
    CHECK(mapped(clocks[file], kNowNs + 1'000'000'000) == kNowNs - 1'000'000'000);
    CHECK(mapped(clocks[file], kNowNs + 2'000'000'000) == kNowNs);
    // Half way: 30.003 s of rank 1 are 30 s.
    CHECK(mapped(clocks[file], kNowNs + 32'003'000'000) == kNowNs + 30'000'000'000);
    CHECK(mapped(clocks[file], kNowNs + 62'006'000'000) == kNowNs + 60'000'000'000);
    CHECK(mapped(clocks[file], kNowNs + 200'000'000'000) == kNowNs + 198'000'000'000);
  }
}

TEST_CASE("alignment: a file without a sync lies on the line of its rank; its base counts") {
  std::vector<ClockFacts> files = two_ranks({0, 6'000});
  files.push_back({.rank = 1, .base_ns = kNowNs, .first_ns = 32'003'000'000});
  const FileClock clock = align(files, kLinear).back();
  CHECK(mapped(clock, 32'003'000'000) == kNowNs + 30'000'000'000);
  CHECK(clock.method == ClockMethod::sync_of_rank);
}

TEST_CASE("alignment: a cycle that lost its sync lies between those of its rank") {
  std::vector<ClockFacts> files = two_ranks({0, 6'000});
  // Half way: 30.003 s of rank 1 are 30 s.
  files.push_back({.rank = 1, .first_ns = kNowNs + 32'003'000'000, .cycle = "lost"});
  files.push_back({.rank = 1, .base_ns = kNowNs, .first_ns = 32'003'000'000, .cycle = "lost"});
  // Files without a sync: one of the first cycle, next to the file with the sync, and one of an
  // unknown cycle.
  files.push_back({.rank = 1, .first_ns = kNowNs + 32'003'000'000, .cycle = "ba0"});
  files.push_back({.rank = 1, .first_ns = kNowNs + 32'003'000'000});
  for (const ClockOptions& options : {ClockOptions{}, kLinear}) {
    const std::vector<FileClock> clocks = align(files, options);
    CHECK(clocks[4].offset_ns == -2'003'000'000);
    CHECK(clocks[5].offset_ns == kNowNs - 2'003'000'000);
    CHECK(clocks[6].offset_ns == -2'000'000'000);
    CHECK(clocks[7].offset_ns == -2'000'000'000);
    CHECK(clocks[4].method == ClockMethod::sync_of_rank);
    CHECK(clocks[4].times.has_drift() == (options.drift == DriftMode::linear));
    CHECK(mapped(clocks[4], kNowNs + 32'003'000'000) == kNowNs + 30'000'000'000);
  }
}

TEST_CASE("alignment: a cycle that only the reference lost lies between those of its rank") {
  // The drift is 6 ms in 60.006 s; the cycle is 30.003 s after the first one of rank 1.
  const std::int64_t lost_us = kNowUs + 32'003'000;
  for (const auto& [later_us, shift_ns] :
       {std::pair{6'000, -2'003'000'000}, {5'000'000, -2'000'000'000}}) {
    std::vector<ClockFacts> files = two_ranks({0, later_us});
    files.push_back(synced(1, lost_us, "lost", 7));
    files.push_back(synced(2, lost_us + 500, "lost", 8));
    files.push_back(synced(2, kNowUs + 400, "ba0", 8));
    CHECK(offsets(files)[4] == shift_ns);
    // Rank 2 meets rank 1 there.
    CHECK(offsets(files)[5] == shift_ns - 500'000);
  }
}

TEST_CASE("alignment: a cycle that lost its sync goes by the nearest where the clock was set") {
  std::vector<ClockFacts> files = two_ranks({0, 5'000'000});
  files.push_back({.rank = 1, .first_ns = kNowNs + 22'000'000'000, .cycle = "lost"});
  CHECK(offsets(files).back() == -2'000'000'000);
}

TEST_CASE("alignment: a clock that was set is told, and nothing is interpolated across that") {
  const std::vector<ClockFacts> files = two_ranks({0, 6'000, 5'000'000, 5'006'000});
  CHECK(counts(files, Problem::clock_step) == Counts{0, 0, 0, 0, 0, 1, 0, 0});
  CHECK(align(files)[5].problems.explanation(Problem::clock_step) == "4.994 s within 64.994 s");
  CHECK(drifts(files) == Drifts{0, 99.99, 0, 99.99, 0, 99.99, 0, 99.99});
  const std::vector<FileClock> clocks = align(files, kLinear);
  CHECK(mapped(clocks[3], kNowNs + 63'000'000'000) == kNowNs + 60'994'000'000);
  CHECK(mapped(clocks[5], kNowNs + 63'000'000'000) == kNowNs + 56'000'000'000);
}

TEST_CASE("alignment: a jump that the error of the syncs allows for is neither a step nor drift") {
  std::vector<ClockFacts> files = two_ranks({0, 60'000});
  for (ClockFacts& file : files) file.error_bound_us = 20'000;
  CHECK(counts(files, Problem::clock_step) == Counts{0, 0, 0, 0});
  CHECK(drifts(files) == Drifts{kUnknown, kUnknown, kUnknown, kUnknown});
  CHECK_FALSE(align(files, kLinear)[1].times.has_drift());
}

TEST_CASE("alignment: moments that the reference did not stamp say nothing of drift") {
  std::vector<ClockFacts> files = two_ranks({0, 6'000, 12'000});
  files.erase(files.begin() + 2);  // rank 0's second cycle
  CHECK(drifts(files) == Drifts{0, 99.99, 99.99, 0, 99.99});
  const std::vector<FileClock> clocks = align(files, kLinear);
  CHECK(mapped(clocks[2], kNowNs + 62'006'000'000) == kNowNs + 60'000'000'000);
}
