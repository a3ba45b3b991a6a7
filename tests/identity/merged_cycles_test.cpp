#include "identity/evidence/merge_notes.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Cycles = std::vector<MergedCycle>;

std::optional<Cycles> read_text(const std::string& traceloom) {
  return read_cycles(JsonDocument(traceloom).root());
}

StartTimes starts_from(std::int64_t first_ns, std::int64_t last_ns) {
  StartTimes starts;
  starts.add(first_ns);
  starts.add(last_ns);
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
  CHECK(read_text(R"({"version":"1","cycles":[)"
                  R"({"cycle":"ep0-ba4","sync_us":17,"first_ns":18000,"last_ns":18000},)"
                  R"({"cycle":"","sync_us":27,"first_ns":28000,"last_ns":29000,)"
                  R"("error_bound_us":9,"more":[1]}]})") ==
        Cycles{{"ep0-ba4", 17, 18'000, 18'000}, {"", 27, 28'000, 29'000, 9}});
  CHECK(read_text(R"({"cycles":[{"cycle":"a","sync_us":17,"first_ns":18,"last_ns":18,)"
                  R"("error_bound_us":-5}]})") == Cycles{{"a", 17, 18, 18}});
  CHECK(read_text(R"({"version":"1"})") == Cycles{});
  CHECK(read_text("") == Cycles{});
}

TEST_CASE("merged_cycles: says where the record is damaged") {
  const std::string good = R"({"cycle":"a","sync_us":17,"first_ns":18000,"last_ns":18500})";
  CHECK(read_text(R"({"cycles":[)" + good + "]}").value().size() == 1);
  for (const char* bad : {R"({"cycle":"b","sync_us":27,"first_ns":19000})",
                          R"({"cycle":"b","sync_us":27,"last_ns":19000})",
                          R"({"cycle":"b","first_ns":19000,"last_ns":19000})",
                          R"({"sync_us":27,"first_ns":19000,"last_ns":19000})",
                          R"({"cycle":5,"sync_us":27,"first_ns":19000,"last_ns":19000})",
                          R"({"cycle":"b","sync_us":2.5,"first_ns":19000,"last_ns":19000})", "5",
                          "[]", R"({"cycle":"b","sync_us":27,"first_ns":19000,"last_ns":18999})",
                          // The second cycle is at the same time as the first, or before it.
                          R"({"cycle":"b","sync_us":27,"first_ns":18000,"last_ns":19000})",
                          R"({"cycle":"b","sync_us":27,"first_ns":17000,"last_ns":19000})"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_text(R"({"cycles":[)" + good + "," + bad + "]}").has_value());
  }
  CHECK_FALSE(read_text(R"({"cycles":{}})").has_value());
  CHECK_FALSE(read_text(R"({"cycles":7})").has_value());
}

TEST_CASE("merged_cycles: reads the barriers of a cycle") {
  const auto read = [](const std::string& rounds) {
    return read_text(R"({"cycles":[{"cycle":"a","sync_us":17,"first_ns":18,"last_ns":18,)" +
                     rounds + "}]}");
  };
  const MergedCycle cycle{.name = "a", .sync_us = 17, .first_ns = 18, .last_ns = 18};
  MergedCycle wanted = cycle;
  wanted.rounds.end = {{5000, 7000}, {6000, 9001}};
  CHECK(read(R"("end_rounds":{"enter":[5,7],"exit":[6,9.001]})") == Cycles{wanted});
  wanted.rounds.start = {{-4000}, {-4000}};
  CHECK(read(R"("start_rounds":{"enter":[-4],"exit":[-4]},)"
             R"("end_rounds":{"enter":[5,7],"exit":[6,9.001]})") == Cycles{wanted});
  CHECK(read(R"("start_rounds":{"enter":[],"exit":[]})") == Cycles{cycle});
  for (const char* bad :
       {"5", "[]", "{}", R"({"enter":[5]})", R"({"enter":[5],"exit":[6,7]})",
        R"({"enter":[5],"exit":[4]})", R"({"enter":[5],"exit":[null]})", R"({"enter":5,"exit":6})",
        R"({"enter":[5],"exit":[4611686018427387.904]})"}) {
    CAPTURE(bad);
    CHECK_FALSE(read(R"("start_rounds":)" + std::string(bad)).has_value());
    CHECK_FALSE(read(R"("end_rounds":)" + std::string(bad)).has_value());
  }
}

TEST_CASE("merged_cycles: the barriers are those of the file that the others go by") {
  const std::vector<ClockFacts> files{{.rank = 1, .sync_us = 100, .cycle = "a"},
                                      {.rank = 2, .sync_us = 100, .cycle = "a"}};
  std::vector<FileClock> clocks{clock_in(0, 0), clock_in(0, 0)};
  clocks[1].rounds = {{{100'000}, {110'000}}, {{130'000}, {135'000}}};
  const Cycles cycles =
      find_cycles(files, clocks, {starts_from(110'000, 120'000), starts_from(120'000, 130'000)});
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].rounds == clocks[1].rounds);
}

TEST_CASE("merged_cycles: the cycles of a merge are those of its lowest rank in each") {
  const std::vector<ClockFacts> files{
      {.rank = 1, .base_ns = 1000, .sync_us = 130, .error_bound_us = 7, .cycle = "b-rank1"},
      {.rank = 0, .sync_us = 100, .error_bound_us = 9, .cycle = "b"},
      {.rank = 1, .sync_us = 30, .cycle = "a"},
      {.rank = 3, .sync_us = 71, .cycle = "no events"},
  };
  const std::vector<FileClock> clocks{clock_in(4, -29'000), clock_in(4, 0), clock_in(7, -5'000),
                                      clock_in(9, 0)};
  const std::vector<StartTimes> starts{starts_from(129'000, 131'000),
                                       starts_from(102'000, 109'000),
                                       starts_from(40'000, 41'000),
                                       {}};
  CHECK(find_cycles(files, clocks, starts) ==
        Cycles{{"a", 25, 35'000, 36'000}, {"b", 100, 100'000, 109'000, 7}});
}

TEST_CASE("merged_cycles: a file beside one with a sync is in its cycle, with events or without") {
  FileClock torch = clock_in(4, 0);
  torch.method = ClockMethod::sync_of_rank;
  const std::vector<ClockFacts> files{{.rank = 0, .sync_us = 100, .cycle = "a"}, {.rank = 0}};
  const std::vector<FileClock> clocks{clock_in(4, 0), torch};
  CHECK(find_cycles(files, clocks, {starts_from(110'000, 120'000), starts_from(90'000, 130'000)}) ==
        Cycles{{"a", 100, 90'000, 130'000}});
  CHECK(find_cycles(files, clocks, {{}, starts_from(90'000, 130'000)}) ==
        Cycles{{"a", 100, 90'000, 130'000}});
}

TEST_CASE("merged_cycles: a file that no sync places belongs to the cycle that it ends in") {
  const std::vector<ClockFacts> files{
      {.sync_us = 100, .cycle = "a"}, {.sync_us = 200, .cycle = "b"}, {.rank = 1}};
  FileClock given;
  given.method = ClockMethod::given;
  const std::vector<FileClock> clocks{clock_in(0, 0), clock_in(1, 0), given};
  const auto cycles_with = [&](std::int64_t first_ns, std::int64_t last_ns) {
    return find_cycles(files, clocks,
                       {starts_from(100'000, 120'000), starts_from(200'000, 220'000),
                        starts_from(first_ns, last_ns)});
  };
  const MergedCycle a{"a", 100, 100'000, 120'000};
  const MergedCycle b{"b", 200, 200'000, 220'000};
  CHECK(cycles_with(110'000, 111'000) == Cycles{a, b});
  CHECK(cycles_with(90'000, 95'000) == Cycles{a, b});
  CHECK(cycles_with(90'000, 130'000) == Cycles{{"a", 100, 90'000, 130'000}, b});
  CHECK(cycles_with(190'000, 230'000) == Cycles{a, {"b", 200, 190'000, 230'000}});
  // One that begins in a cycle and ends in another makes no cycle begin earlier.
  CHECK(cycles_with(115'000, 230'000) ==
        Cycles{{"a", 100, 100'000, 199'999}, {"b", 200, 200'000, 230'000}});
}

TEST_CASE("merged_cycles: of two cycles that begin with one event there is one") {
  const std::vector<ClockFacts> files{{.sync_us = 100, .cycle = "a"},
                                      {.sync_us = 200, .cycle = "b"}};
  CHECK(find_cycles(files, {clock_in(0, 0), clock_in(1, 0)},
                    {starts_from(100'000, 120'000), starts_from(100'000, 150'000)}) ==
        Cycles{{"a", 100, 100'000, 150'000}});
}

TEST_CASE("merged_cycles: a file is as many parts as it has cycles, if a merge wrote it") {
  const SyncRounds rounds{{27'100}, {27'200}};
  const Cycles cycles{{"a", 17, 18'000, 18'100, 5}, {"b", 27, 28'000, 28'200, {}, rounds, {}}};
  const ClockFacts merged{
      .rank = 2, .base_ns = 1000, .sync_us = 17, .first_ns = 5, .is_merged = true};
  const StartTimes starts = starts_from(5, 30'000);
  const std::vector<FilePart> parts = parts_of(merged, starts, cycles);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].facts.cycle == "a");
  CHECK(parts[1].facts.cycle == "b");
  CHECK(parts[1].facts.rank == 2);
  CHECK(parts[1].facts.sync_us == 27);
  CHECK(parts[0].facts.error_bound_us == 5);
  CHECK_FALSE(parts[1].facts.error_bound_us.has_value());
  CHECK(parts[0].facts.rounds.start.empty());
  CHECK(parts[1].facts.rounds.start == rounds);
  CHECK(parts[1].facts.first_ns == 27'000);
  CHECK(parts[1].starts.relative().first == 27'000);
  CHECK(parts[1].starts.relative().last == 27'200);
  const std::vector<FilePart> only = parts_of(merged, starts, {cycles[1]});
  REQUIRE(only.size() == 1);
  CHECK(only[0].facts.cycle == "b");
  CHECK(only[0].facts.first_ns == 27'000);
  const std::vector<FilePart> whole = parts_of(merged, starts, {});
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].facts.first_ns == 5);
  CHECK(whole[0].starts.relative().last == 30'000);
  CHECK(parts_of({.rank = 2}, starts, cycles).size() == 1);

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
