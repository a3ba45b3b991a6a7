// The error of a file's clock anywhere in the file, computed from its error at one moment.
#include "clock/alignment.h"
#include "clock/clock_files.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

using Errors = std::vector<std::optional<std::int64_t>>;

constexpr std::int64_t kOneSecond = 1'000'000'000;

// Events from 1 s before to 100 s after the sync.
ClockFacts recorded_around(std::int64_t rank, std::int64_t sync_us,
                           const std::string& cycle = "ba1") {
  ClockFacts file = synced(rank, sync_us, cycle, 99);
  file.first_ns = sync_us * 1000 - kOneSecond;
  file.last_ns = sync_us * 1000 + 100 * kOneSecond;
  return file;
}

Errors worst_errors(const std::vector<ClockFacts>& files, const ClockOptions& options = {}) {
  Errors result;
  for (const FileClock& clock : align(files, options)) result.push_back(clock.worst_error_ns);
  return result;
}

std::shared_ptr<const TimeMap::Line> line(std::vector<TimeMap::Knot> knots) {
  return std::make_shared<const TimeMap::Line>(std::move(knots));
}

std::int64_t drift_error(std::int64_t first_ns, std::int64_t last_ns, const KnownShift& known) {
  return drift_error_ns({.base_ns = 1000, .first_ns = first_ns - 1000, .last_ns = last_ns - 1000},
                        known);
}

}  // namespace

TEST_CASE("worst_error: without knowledge of drift 200 ppm to the farthest event, rounded up") {
  const KnownShift known{.from_ns = kOneSecond, .to_ns = kOneSecond};
  CHECK(drift_error(kOneSecond, 11 * kOneSecond, known) == 2'000'000);
  CHECK(drift_error(-9 * kOneSecond, kOneSecond, known) == 2'000'000);
  CHECK(drift_error(-9 * kOneSecond, 12 * kOneSecond, known) == 2'200'000);
  CHECK(drift_error(kOneSecond, kOneSecond, known) == 0);
  CHECK(drift_error(kOneSecond, kOneSecond + 1, known) == 1);
  CHECK(drift_error(kOneSecond, kOneSecond + 5000, known) == 1);
  CHECK(drift_error(kOneSecond, kOneSecond + 5001, known) == 2);
  // The worse of two known moments decides.
  CHECK(drift_error(0, 11 * kOneSecond, {.from_ns = 0, .to_ns = 10 * kOneSecond}) == 2'200'000);
  CHECK(drift_error_ns({}, known) == 0);
  CHECK(drift_error_ns({.first_ns = kMin, .last_ns = kMax}, {}) == 1'844'674'407'370'956);
}

TEST_CASE("worst_error: on a line by that, beyond its ends by 200 ppm") {
  // Loses 50 us a second, and then nothing.
  KnownShift known{.shift_ns = 0,
                   .line = line({{0, 0}, {10 * kOneSecond, 500'000}, {20 * kOneSecond, 500'000}})};
  CHECK(drift_error(0, 0, known) == 0);
  CHECK(drift_error(0, 4 * kOneSecond, known) == 200'000);
  CHECK(drift_error(0, 20 * kOneSecond, known) == 500'000);
  CHECK(drift_error(15 * kOneSecond, 21 * kOneSecond, known) == 700'000);
  CHECK(drift_error(-kOneSecond, 0, known) == 200'000);
  known.shift_ns = 400'000;
  CHECK(drift_error(5 * kOneSecond, 20 * kOneSecond, known) == 150'000);
  // The farthest moment of all may lie between the events.
  known.line = line({{0, 0}, {10 * kOneSecond, 500'000}, {20 * kOneSecond, 0}});
  known.shift_ns = 0;
  CHECK(drift_error(kOneSecond, 19 * kOneSecond, known) == 500'000);
}

TEST_CASE(
    "alignment: the error of one sync is that of the moment, and more at the end of the file") {
  const std::vector<ClockFacts> files{recorded_around(0, kNowUs), recorded_around(1, kNowUs + 7)};
  CHECK(align(files)[1].error_ns == 100'000);
  CHECK(worst_errors(files) == Errors{20'100'000, 20'100'000});
  // If the error at the sync is not known, it is not known elsewhere.
  CHECK(worst_errors({synced(0, kNowUs, "ba1"), synced(1, kNowUs, "ba1")}) ==
        Errors{std::nullopt, std::nullopt});
}

TEST_CASE("alignment: a file without a sync is as far off as it is far from that of its rank") {
  std::vector<ClockFacts> files{recorded_around(0, kNowUs), recorded_around(1, kNowUs)};
  files.push_back(
      {.rank = 1, .first_ns = kNowNs + 500 * kOneSecond, .last_ns = kNowNs + 600 * kOneSecond});
  CHECK(align(files)[2].method == ClockMethod::sync_of_rank);
  CHECK(worst_errors(files)[2] == 100'000 + 120'000'000);
}

TEST_CASE("alignment: where drift is known it takes the place of the worst one") {
  // 200 s apart, in which rank 1 gains 10 ms: 50 ppm.
  std::vector<ClockFacts> files{
      recorded_around(0, kNowUs), recorded_around(0, kNowUs + 200'000'000, "ba2"),
      recorded_around(1, kNowUs), recorded_around(1, kNowUs + 200'010'000, "ba2")};
  const Errors constant = worst_errors(files);
  // Half way 5 ms; and the second before the first sync by 200 ppm.
  CHECK(constant[2].value() / 1000 == 100 + 4'999);
  // The last 100 s are beyond all syncs.
  CHECK(constant[3] == 100'000 + 20'000'000);
  CHECK(worst_errors(files, kLinear)[2] == 100'000);
  CHECK(worst_errors(files, kLinear)[3] == 100'000);
}

TEST_CASE("alignment: rounds at both ends bound the whole file, those at one end do not") {
  const auto rounds_at = [](std::int64_t at_us) {
    const std::int64_t ns = at_us * 1000;
    return SyncRounds{{ns, ns + 10'000}, {ns + 10'000, ns + 20'000}};
  };
  std::vector<ClockFacts> files{recorded_around(0, kNowUs), recorded_around(1, kNowUs)};
  for (ClockFacts& file : files) {
    file.rounds.start = rounds_at(kNowUs);
    file.rounds.end = rounds_at(kNowUs + 100'000'000);
  }
  CHECK(worst_errors(files) == Errors{0, align(files)[1].error_ns});
  files[1].rounds.end = {};
  CHECK(align(files)[1].error_ns == 10'003);
  // The distance counts from the middle of the second round.
  CHECK(worst_errors(files) == Errors{0, 10'003 + 19'999'997});
}

TEST_CASE("alignment: ranks of one boot do not drift apart") {
  std::vector<ClockFacts> files{recorded_around(0, kNowUs), recorded_around(1, kNowUs)};
  for (ClockFacts& file : files) file.machine = MachineClock{"boot", {-20, 30}};
  CHECK(align(files)[1].method == ClockMethod::same_boot);
  CHECK(worst_errors(files) == Errors{0, 50});
  // Without a sync of its own, the worst error of a file is 20 ms above its error.
  files[1].sync_us.reset();
  CHECK(align(files)[1].method == ClockMethod::same_boot);
  CHECK(worst_errors(files)[1] == align(files)[1].error_ns.value() + 20'000'000);
}

TEST_CASE("alignment: moments that files share are moments, too") {
  std::vector<ClockFacts> files(2);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    ClockFacts& file = files[static_cast<std::size_t>(rank)];
    file = {.rank = rank, .first_ns = 0, .last_ns = 10 * kOneSecond};
    file.sync_events = {{"a", 2 * kOneSecond, 15}};
  }
  CHECK(worst_errors(files) == Errors{0, 30 + 1'600'000});
}
