#include "identity/evidence/event_tally.h"
#include "identity/evidence/file_reading.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kDayNs = 24 * 60 * kMinuteNs;
constexpr std::int64_t kUnixNow = 1'795'202'294'140'462'000;

// One after the other, ten bytes each.
StartTimes starts_of(const std::vector<std::int64_t>& times) {
  StartTimes starts;
  std::uint64_t offset = 0;
  for (const std::int64_t ns : times) starts.add(ns, offset += 10);
  return starts;
}

// How many outliers are at 0, how many at other times, and the lowest offset of those.
struct Outliers {
  std::uint64_t zeros = 0;
  std::uint64_t others = 0;
  std::uint64_t first_offset = 0;
  bool operator==(const Outliers&) const = default;
};
Outliers outliers_of(const StartTimes& starts) {
  ProblemCounts problems;
  starts.count_outliers(problems);
  CHECK(starts.has_outliers() == !problems.empty());
  return {problems.count(Problem::bad_timestamp), problems.count(Problem::outlying_timestamp),
          problems.first_offset(Problem::outlying_timestamp)};
}

bool fits(const StartTimes& starts, std::int64_t ns) {
  const StartTimes::Range limits = starts.limits();
  return ns >= limits.first && ns <= limits.last;
}

}  // namespace

TEST_CASE("start_times: most events decide which times are on the time line") {
  const StartTimes early = starts_of({kUnixNow, -8'000'000'000'000'000'000, kUnixNow + 5});
  CHECK(early.first_ns() == kUnixNow);
  CHECK(early.unix_time().last == kUnixNow + 5);
  CHECK(early.relative().empty());
  CHECK_FALSE(early.is_mixed());
  CHECK(outliers_of(early) == Outliers{0, 1, 20});
  CHECK_FALSE(fits(early, -8'000'000'000'000'000'000));
  CHECK(fits(early, kUnixNow));
  // The other way round.
  const StartTimes late =
      starts_of({-8'000'000'000'000'000'000, -8'000'000'000'000'000'000, kUnixNow, kLeast});
  CHECK(late.first_ns() == kLeast);
  CHECK(outliers_of(late) == Outliers{0, 1, 30});
  CHECK_FALSE(fits(late, kUnixNow));
}

TEST_CASE("start_times: times that one time line reaches are no outliers") {
  for (const std::vector<std::int64_t>& times :
       std::vector<std::vector<std::int64_t>>{{0, kUnixNow},
                                              {-4'000'000'000'000'000'000, kUnixNow, kUnixNow},
                                              {kUnixNow, kUnixNow, 9'000'000'000'000'000'000},
                                              {kLeast, -2000},
                                              {0, kMost - 999}}) {
    const StartTimes starts = starts_of(times);
    CHECK(outliers_of(starts) == Outliers{});
    CHECK(starts.first_ns() == *std::ranges::min_element(times));
    for (const std::int64_t ns : times) CHECK(fits(starts, ns));
    CHECK(starts.limits().first == kLeast);
    CHECK(starts.limits().last == kMost + 1);
  }
}

TEST_CASE("start_times: at the ends of int64") {
  const StartTimes both = starts_of({kLeast, 500, 600, kMost});
  CHECK(both.first_ns() == 500);
  CHECK(outliers_of(both) == Outliers{0, 2, 10});
  CHECK_FALSE(fits(both, kLeast + 5));
  CHECK(fits(both, -kDayNs));
  CHECK(fits(both, kUnixNow));
  CHECK_FALSE(fits(both, kMost));
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
  CHECK(outliers_of(starts) == Outliers{0, 1, 10});
}

TEST_CASE("start_times: 0 is no time where all others are far from it, and near each other") {
  const std::int64_t boot = 40 * kMinuteNs;
  CHECK(outliers_of(starts_of({boot, 0, boot + 5})) == Outliers{1, 0, 0});
  CHECK(outliers_of(starts_of({kUnixNow, 0, 0, kUnixNow + 5, kUnixNow})) == Outliers{2, 0, 0});
  CHECK(starts_of({boot, 0, boot + 5}).first_ns() == boot);
  // Torch's times in a Composer file are near 0, those of Composer are Unix times.
  CHECK(outliers_of(starts_of({0, 5, 7, kUnixNow, kUnixNow})) == Outliers{});
  CHECK(outliers_of(starts_of({0, boot, boot, kUnixNow, kUnixNow})) == Outliers{1, 0, 0});
  // A run that begins at 0, also one that does something each hour, and as many events as others.
  CHECK(outliers_of(starts_of({0, 20 * kMinuteNs, 40 * kMinuteNs})) == Outliers{});
  CHECK(outliers_of(starts_of({0, 60 * kMinuteNs, 120 * kMinuteNs})) == Outliers{});
  CHECK(outliers_of(starts_of({0, 0, boot, boot})) == Outliers{});
  CHECK(outliers_of(starts_of({1, boot, boot, boot})) == Outliers{});
  // Negative times are neither since 1970 nor since a boot.
  CHECK(outliers_of(starts_of({-boot, -boot - 5, 0})) == Outliers{});
  // A merge begins at 0, whatever follows.
  StartTimes merged = starts_of({0, boot, boot + 5});
  merged.trust();
  CHECK(outliers_of(merged) == Outliers{});
}

TEST_CASE("start_times: a few events before or after a gap that no run has are outliers") {
  for (const std::int64_t begin : {-300 * kDayNs, 0 * kDayNs, 9 * kDayNs, kUnixNow}) {
    const std::vector<std::int64_t> crowd{begin + 7, begin + 8, begin + kDayNs, begin + 9};
    for (const std::int64_t far : {-34 * kDayNs, 34 * kDayNs, 400 * kDayNs}) {
      std::vector<std::int64_t> times = crowd;
      times.insert(times.begin() + 1, begin + far);
      const StartTimes starts = starts_of(times);
      CHECK(outliers_of(starts) == Outliers{0, 1, 20});
      CHECK_FALSE(fits(starts, begin + far));
      CHECK(fits(starts, begin + kDayNs));
      CHECK(starts.first_ns() == begin + 7);
      CHECK(starts.last_ns() == begin + kDayNs);
      // A second one is too many for four.
      times.push_back(begin + far + 1);
      CHECK(outliers_of(starts_of(times)) == Outliers{});
    }
    std::vector<std::int64_t> times = crowd;
    times.push_back(begin + 6 * kDayNs);
    CHECK(outliers_of(starts_of(times)) == Outliers{});
  }
}

TEST_CASE(
    "start_times: an event at 0 of which more is known has a time, unless no run is so long") {
  const std::vector<std::int64_t> day{0, kDayNs, kDayNs + 5};
  const std::vector<std::int64_t> week{0, 7 * kDayNs, 7 * kDayNs + 5};
  const std::vector<std::int64_t> composer{0, kDayNs, kDayNs, kUnixNow, kUnixNow};
  for (const std::vector<std::int64_t>& times : {day, week, composer}) {
    StartTimes first;
    first.trust_zero();
    StartTimes starts = starts_of(times);
    CHECK(outliers_of(starts) == Outliers{1, 0, 0});
    starts.add(first);
    CHECK(outliers_of(starts) == Outliers{times == week ? 1U : 0U, 0, 0});
  }
}

TEST_CASE("start_times: which events at 0 have a time") {
  for (const auto& [event, is_known] :
       std::vector<std::pair<std::string, bool>>{{R"("ph":"X","dur":2460000000)", true},
                                                 {R"("ph":"X","dur":0)", false},
                                                 {R"("ph":"B")", true},
                                                 {R"("ph":"b","id":1)", true},
                                                 {R"("ph":"C","args":{"bytes":1})", true},
                                                 {R"("ph":"i","s":"t")", false},
                                                 {R"("ph":"s","id":1)", false}}) {
    const std::string later = R"({"ph":"X","pid":1,"tid":1,"name":"b","dur":5,"ts":2400000000})";
    const std::string text =
        "{" + event + R"(,"pid":1,"tid":1,"name":"a","ts":0},)" + later + "," + later + "]";
    ReadingPart part;
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems);
    while (const Event* next = scanner.next()) part.add(*next, time_event(*next, problems));
    CAPTURE(event);
    CHECK(outliers_of(part.starts) == Outliers{is_known ? 0U : 1U, 0, 0});
  }
}

TEST_CASE("start_times: all outliers together are few, else there are none") {
  // How many events there are, a week after those before.
  const auto weekly = [](const std::vector<std::int64_t>& groups) {
    StartTimes starts;
    for (std::size_t week = 0; week < groups.size(); ++week)
      for (std::int64_t i = 0; i < groups[week]; ++i)
        starts.add(kUnixNow + static_cast<std::int64_t>(week) * 7 * kDayNs + i, 10);
    return outliers_of(starts);
  };
  for (const std::int64_t groups : {2, 4, 5, 8, 16, 40})
    CHECK(weekly(std::vector<std::int64_t>(groups, 20)) == Outliers{});
  CHECK(weekly({1, 4, 16, 64, 256}) == Outliers{});
  CHECK(weekly({256, 64, 16, 4, 1}) == Outliers{});
  CHECK(weekly({100, 2, 100}) == Outliers{});
  CHECK(weekly({1, 2, 60}) == Outliers{0, 3, 10});
  CHECK(weekly({2, 60, 1}) == Outliers{0, 3, 10});
  CHECK(weekly({4, 60, 2}) == Outliers{});
}

TEST_CASE("start_times: however the file is cut, the same times are outliers") {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 400; ++i) times.push_back(1 + i % 97 * 5 * kDayNs);
  times.push_back(-3000 * kDayNs);
  times.push_back(kUnixNow);
  times.push_back(0);
  const StartTimes whole = starts_of(times);
  CHECK(outliers_of(whole) == Outliers{0, 1, 4010});
  for (const std::size_t piece : {1U, 7U, 100U, 399U}) {
    StartTimes joined;
    for (std::size_t begin = times.size(); begin > 0;) {
      const std::size_t size = std::min(piece, begin);
      StartTimes part;
      for (std::size_t i = begin - size; i < begin; ++i) part.add(times[i], 10 * (i + 1));
      joined.add(part);
      begin -= size;
    }
    CHECK(outliers_of(joined) == Outliers{0, 1, 4010});
    CHECK(joined.limits().first == whole.limits().first);
    CHECK(joined.limits().last == whole.limits().last);
  }
}
