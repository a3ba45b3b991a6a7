#include "survey/merged_cycles.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

using Cycles = std::vector<MergedCycle>;

StartTimes starts_at(std::int64_t ns) {
  StartTimes starts;
  starts.add(ns);
  return starts;
}

FileClock clock_in(std::size_t cycle, std::int64_t offset_ns) {
  FileClock clock;
  clock.method = ClockMethod::sync;
  clock.offset_ns = offset_ns;
  clock.times = TimeMap(offset_ns);
  clock.cycle = cycle;
  return clock;
}

}  // namespace

TEST_CASE("merged_cycles: reads what a merge says") {
  CHECK(read_cycles(
            R"({"version":"1","cycles":[)"
            R"({"cycle":"ep0-ba4","sync_us":17,"first_ns":18000},)"
            R"({"cycle":"","sync_us":27,"first_ns":28000,"error_bound_us":9,"more":[1]}]})") ==
        Cycles{{"ep0-ba4", 17, 18'000}, {"", 27, 28'000, 9}});
  CHECK(read_cycles(R"({"version":"1"})").empty());
  CHECK(read_cycles("").empty());
}

TEST_CASE("merged_cycles: says nothing where the record is damaged") {
  const std::string good = R"({"cycle":"a","sync_us":17,"first_ns":18000})";
  CHECK(read_cycles(R"({"cycles":[)" + good + "]}").size() == 1);
  for (const char* bad :
       {R"({"cycle":"a","sync_us":17})", R"({"cycle":"a","first_ns":19000})",
        R"({"sync_us":17,"first_ns":19000})", R"({"cycle":5,"sync_us":17,"first_ns":19000})",
        R"({"cycle":"a","sync_us":"x","first_ns":19000})", "5", "[]",
        R"({"cycle":"b","sync_us":27,"first_ns":18000})",     // at the same time
        R"({"cycle":"b","sync_us":27,"first_ns":17000})"}) {  // before the first
    CAPTURE(bad);
    CHECK(read_cycles(R"({"cycles":[)" + good + "," + bad + "]}").empty());
  }
}

TEST_CASE("merged_cycles: the cycles of a merge are those of its lowest rank in each") {
  const std::vector<ClockFacts> files{
      {.rank = 1, .base_ns = 1000, .sync_us = 130, .error_bound_us = 7, .cycle = "b-rank1"},
      {.rank = 0, .sync_us = 100, .error_bound_us = 9, .cycle = "b"},
      {.rank = 1, .sync_us = 30, .cycle = "a"},
      {.rank = 2, .sync_us = 70},
      {.rank = 3, .sync_us = 71, .cycle = "no events"},
  };
  FileClock no_sync;
  no_sync.method = ClockMethod::base;
  const std::vector<FileClock> clocks{clock_in(4, -29'000), clock_in(4, 0), clock_in(7, -5'000),
                                      no_sync, clock_in(9, 0)};
  const std::vector<StartTimes> starts{
      starts_at(129'000), starts_at(102'000), starts_at(40'000), starts_at(1), {}};
  CHECK(find_cycles(files, clocks, starts) == Cycles{{"a", 25, 35'000}, {"b", 100, 100'000, 7}});
}

TEST_CASE("merged_cycles: a file is as many parts as it has cycles, if a merge wrote it") {
  const Cycles cycles{{"a", 17, 18'000, 5}, {"b", 27, 28'000}};
  const ClockFacts merged{
      .rank = 2, .base_ns = 1000, .sync_us = 17, .first_ns = 5, .is_merged = true};
  const std::vector<ClockFacts> parts = parts_of(merged, cycles);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].cycle == "a");
  CHECK(parts[1].cycle == "b");
  CHECK(parts[1].rank == 2);
  CHECK(parts[1].sync_us == 27);
  CHECK(parts[0].error_bound_us == 5);
  CHECK_FALSE(parts[1].error_bound_us.has_value());
  CHECK(parts[1].first_ns == 27'000);
  CHECK(parts_of(merged, {cycles[0]}).size() == 1);
  CHECK(parts_of(merged, {cycles[0]})[0].sync_us == 17);
  CHECK(parts_of({.rank = 2}, cycles).size() == 1);

  FileClock later = clock_in(1, 700);
  later.problems.add(Problem::clock_step, 0);
  later.error_ns = 40;
  FileClock first = clock_in(0, 900);
  CHECK_FALSE(join_parts(merged, cycles, {first, later}).error_ns.has_value());
  first.error_ns = 30;
  const FileClock joined = join_parts(merged, cycles, {first, later});
  CHECK(joined.error_ns == 40);
  CHECK(joined.offset_ns == 900);
  CHECK(joined.problems.count(Problem::clock_step) == 1);
  CHECK(joined.times.mapped_or_same(26'999) == 27'899);
  CHECK(joined.times.mapped_or_same(27'000) == 27'700);
}
