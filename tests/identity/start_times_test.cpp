#include "identity/evidence/event_tally.h"

#include <doctest/doctest.h>

#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::int64_t kUnixNow = 1'795'202'294'140'462'000;

// One after the other, ten bytes each.
StartTimes starts_of(const std::vector<std::int64_t>& times) {
  StartTimes starts;
  std::uint64_t offset = 0;
  for (const std::int64_t ns : times) starts.add(ns, offset += 10);
  return starts;
}

}  // namespace

TEST_CASE("start_times: most events decide which times are on the time line") {
  const StartTimes early = starts_of({kUnixNow, -8'000'000'000'000'000'000, kUnixNow + 5});
  CHECK(early.first_ns() == kUnixNow);
  CHECK(early.unix_time().last == kUnixNow + 5);
  CHECK(early.relative().empty());
  CHECK_FALSE(early.is_mixed());
  CHECK(early.outliers().events == 1);
  CHECK(early.outliers().first_offset == 20);
  CHECK_FALSE(early.fits(-8'000'000'000'000'000'000));
  CHECK(early.fits(kUnixNow));
  CHECK(early.fit_near());
  // The other way round.
  const StartTimes late =
      starts_of({-8'000'000'000'000'000'000, -8'000'000'000'000'000'000, kUnixNow, kLeast});
  CHECK(late.first_ns() == kLeast);
  CHECK(late.outliers().events == 1);
  CHECK(late.outliers().first_offset == 30);
  CHECK_FALSE(late.fits(kUnixNow));
  CHECK_FALSE(late.fit_near());
}

TEST_CASE("start_times: times that one time line reaches are no outliers") {
  for (const std::vector<std::int64_t>& times :
       std::vector<std::vector<std::int64_t>>{{0, kUnixNow},
                                              {-4'000'000'000'000'000'000, kUnixNow, kUnixNow},
                                              {kUnixNow, kUnixNow, 9'000'000'000'000'000'000},
                                              {kLeast, -2000},
                                              {0, kMost - 999}}) {
    const StartTimes starts = starts_of(times);
    CHECK(starts.outliers().events == 0);
    CHECK(starts.first_ns() == *std::ranges::min_element(times));
    for (const std::int64_t ns : times) CHECK(starts.fits(ns));
    CHECK(starts.limits().first == kLeast);
    CHECK(starts.limits().last == kMost + 1);
  }
}

TEST_CASE("start_times: at the ends of int64") {
  const StartTimes both = starts_of({kLeast, 500, 600, kMost});
  CHECK(both.first_ns() == 500);
  CHECK(both.outliers().events == 2);
  CHECK(both.outliers().first_offset == 10);
  CHECK(both.limits().first == -(std::int64_t{1} << 62));
  CHECK(both.limits().last == (std::int64_t{1} << 62) - 1);
  // If the counts are equal, the events at a possible time stay.
  CHECK(starts_of({kLeast, kUnixNow}).first_ns() == kUnixNow);
  CHECK(starts_of({-2, kMost}).first_ns() == -2);
  CHECK(starts_of({kLeast, kMost, kMost}).first_ns() == kMost);
  CHECK(starts_of({kLeast}).first_ns() == kLeast);
}

TEST_CASE("start_times: the parts of a file add up, and an E is no first event") {
  StartTimes starts = starts_of({kUnixNow});
  starts.add(starts_of({-8'000'000'000'000'000'000, kUnixNow - 7}));
  starts.add_end(kLeast);
  starts.add_end(kUnixNow + 9);
  CHECK(starts.first_ns() == kUnixNow - 7);
  CHECK(starts.unix_time().last == kUnixNow + 9);
  CHECK(starts.unix_time().events == 2);
  CHECK(starts.outliers().events == 1);
  CHECK(starts.outliers().first_offset == 10);
}
