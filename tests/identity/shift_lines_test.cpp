#include "identity/clocks/clock_plan.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

constexpr std::int64_t kUs = 1'000;

std::vector<std::string> words(std::vector<RankShift> shifts) {
  std::vector<std::string> found;
  for (const ShiftLine& line : shift_lines(std::move(shifts))) found.push_back(line.words);
  return found;
}

}  // namespace

TEST_CASE("shift_lines: ranks that lie within each other's bounds share a line") {
  const std::vector<RankShift> shifts{{4, {4}, -70'000'000 * kUs, 12 * kUs},
                                      {2, {2}, 500 * kUs, 20 * kUs},
                                      {5, {5}, -70'000'000 * kUs + 9 * kUs, 10 * kUs},
                                      {6, {6}, -70'000'000 * kUs + 3 * kUs, 11 * kUs}};
  CHECK(words(shifts) ==
        std::vector<std::string>{
            "rank 2 shifted by +500.000 us: its collectives end with the others' (±20.000 us)",
            "ranks 4-6 shifted by -70.000 s: their collectives end with the others' (±12.000 us)"});
  const std::vector<ShiftLine> lines = shift_lines(shifts);
  CHECK(lines[1].file == 4);
  CHECK(lines[1].files == 3);
}

TEST_CASE("shift_lines: shifts that are written differently are told from least to most") {
  CHECK(words({{0, {1}, -5'012 * kUs, 90 * kUs}, {1, {2, 3}, -5'001 * kUs, 80 * kUs}}) ==
        std::vector<std::string>{"ranks 1-3 shifted by -5.012 ms to -5.001 ms: their collectives "
                                 "end with the others' (±90.000 us)"});
  // Further apart than the smaller bound: not alike.
  CHECK(words({{0, {1}, -5'012 * kUs, 90 * kUs}, {1, {2, 3}, -5'001 * kUs, 10 * kUs}}).size() == 2);
}

TEST_CASE("shift_lines: of a clock that may have been right, the ends are told") {
  const std::vector<RankShift> shifts{{1, {1}, -400 * kUs, 600 * kUs, false},
                                      {2, {2}, -390 * kUs, 500 * kUs, false},
                                      {3, {3}, -400 * kUs, 600 * kUs, true}};
  const std::vector<ShiftLine> lines = shift_lines(shifts, {395 * kUs, 7 * kUs});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].words ==
        "ranks 1-2 shifted by -400.000 us to -390.000 us: the ends of the collectives come from "
        "395.000 us to 7.000 us apart (±600.000 us)");
  CHECK(lines[1].words ==
        "rank 3 shifted by -400.000 us: its collectives end with the others' (±600.000 us)");
}

TEST_CASE("shift_lines: where the ends come no closer, messages were the reason") {
  CHECK(words({{5, {5}, 1'266 * kUs, 2'387 * kUs, false}}) ==
        std::vector<std::string>{"rank 5 shifted by +1.266 ms: its collectives and messages are "
                                 "possible then (±2.387 ms)"});
}

TEST_CASE("shift_lines: ranks that were moved little share a clause") {
  const std::vector<RankShift> shifts{{1, {1}, 3'236 * kUs, 5'000 * kUs, true, true},
                                      {2, {2}, -777'402 * kUs, 5'853 * kUs},
                                      {3, {3}, -385 * kUs, 5'000 * kUs, true, true}};
  const std::vector<ShiftLine> lines = shift_lines(shifts);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].words ==
        "rank 2 shifted by -777.402 ms: its collectives end with the others' (±5.853 ms); ranks 1, "
        "3 by -385.000 us to +3.236 ms, less than the ends are still apart");
  CHECK(lines[0].file == 2);
  CHECK(lines[0].files == 3);
}

TEST_CASE("shift_lines: at most eight lines, however many hosts there are") {
  std::vector<RankShift> shifts;
  for (std::size_t i = 0; i < 8; ++i)
    shifts.push_back(
        {i, {static_cast<std::int64_t>(i)}, static_cast<std::int64_t>(i + 1) * 1'000 * kUs, kUs});
  CHECK(words(shifts).size() == 8);
  CHECK(words(shifts)[7] ==
        "rank 7 shifted by +8.000 ms: its collectives end with the others' (±1.000 us)");
  shifts.push_back({8, {8}, -9'000 * kUs, kUs});
  shifts.push_back({9, {9}, -9'000 * kUs, kUs});
  const std::vector<ShiftLine> lines = shift_lines(shifts);
  REQUIRE(lines.size() == 8);
  CHECK(lines[6].words ==
        "rank 6 shifted by +7.000 ms: its collectives end with the others' (±1.000 us)");
  CHECK(lines[7].words == "and 3 more ranks, by -9.000 ms to +8.000 ms (see --report)");
  CHECK(lines[7].file == 7);
  CHECK(lines[7].files == 3);
}
