// align() with moments that files stamped under one id.
#include "clock/clock_files.h"

#include <doctest/doctest.h>

using namespace traceloom;
using ClockMethod::base;
using ClockMethod::given;
using ClockMethod::none;
using ClockMethod::sync_event;

namespace {

ClockFacts stamped(std::int64_t rank, std::vector<SyncEvent> events) {
  return {.rank = rank, .first_ns = 5, .sync_events = std::move(events)};
}

std::vector<std::optional<std::int64_t>> errors_of_syncs(const std::vector<ClockFacts>& files) {
  std::vector<std::optional<std::int64_t>> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.error_ns);
  return result;
}

using Errors = std::vector<std::optional<std::int64_t>>;

}  // namespace

TEST_CASE("alignment: files without any other clock go by the first of them that share moments") {
  const std::vector<ClockFacts> files{stamped(0, {{"a", 1000, 10}}),
                                      stamped(1, {{"a", 4000, 20}, {"b", 50, 1}}),
                                      stamped(2, {{"b", 90, 2}})};
  CHECK(offsets(files) == Ns{0, -3000, -3040});
  CHECK(methods(files) == Methods{sync_event, sync_event, sync_event});
  CHECK(errors_of_syncs(files) == Errors{0, 30, 33});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0});
  CHECK(align(files)[1].times == TimeMap(-3000));
}

TEST_CASE("alignment: shared moments weigh less than a clock sync and more than a base") {
  std::vector<ClockFacts> files{stamped(0, {{"a", 1000, 10}}), stamped(1, {{"a", 4000, 20}}),
                                stamped(2, {{"a", 7000, 0}})};
  SUBCASE("a base gives the common time, but not beside the moment") {
    files[1].base_ns = kNowNs;
    files[2].base_ns = kNowNs;
    CHECK(methods(files) == Methods{sync_event, sync_event, sync_event});
    CHECK(offsets(files) == Ns{kNowNs + 3000, kNowNs, kNowNs - 3000});
  }
  SUBCASE("a clock sync stays what it is") {
    files[2].sync_us = 9;
    CHECK(methods(files) == Methods{sync_event, sync_event, ClockMethod::sync});
    CHECK(offsets(files) == Ns{6000, 3000, 0});
    CHECK(errors_of_syncs(files) == Errors{10, 20, std::nullopt});
  }
  SUBCASE("so does an offset that was given") {
    const std::vector<FileClock> clocks = align(files, {.offsets = {{1, 77}}});
    CHECK(clocks[0].offset_ns == 3077);
    CHECK(clocks[1].method == given);
    CHECK(clocks[1].offset_ns == 77);
    CHECK(clocks[2].offset_ns == -2923);
  }
  SUBCASE("and they are of no use where bases are asked for, or nothing") {
    for (const AlignBy by : {AlignBy::base, AlignBy::none})
      for (const FileClock& clock : align(files, {.align_by = by})) CHECK(clock.method == none);
    for (const FileClock& clock : align(files, {.align_by = AlignBy::sync}))
      CHECK(clock.method == sync_event);
  }
}

TEST_CASE("alignment: moments that lead to no file with a clock place nothing beside those") {
  const std::vector<ClockFacts> with_base{stamped(0, {{"a", 1000, 10}}),
                                          stamped(1, {{"a", 4000, 20}}), based(2, kNowNs, 1)};
  CHECK(methods(with_base) == Methods{none, none, base});
  CHECK(counts(with_base, Problem::no_clock) == Counts{1, 1, 0});
  const std::vector<ClockFacts> two_groups{
      stamped(0, {{"a", 1000, 10}}), stamped(1, {{"b", 1, 1}}), stamped(2, {{"a", 1000, 10}}),
      stamped(3, {{"b", 4000, 20}}), stamped(4, {{"c", 4000, 20}})};
  CHECK(methods(two_groups) == Methods{sync_event, none, sync_event, none, none});
  CHECK(counts(two_groups, Problem::no_clock) == Counts{0, 1, 0, 1, 1});
}
