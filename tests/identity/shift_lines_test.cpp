#include "identity/clocks/shift_lines.h"

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

TEST_CASE("shift_lines: ranks that follow each other are a range") {
  CHECK(rank_ranges({3}) == "3");
  CHECK(rank_ranges({0, 1, 2, 5, 7, 8}) == "0-2, 5, 7-8");
  CHECK(rank_ranges({0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 19}) ==
        "0, 2, 4, 6, 8, 10, 12, 14 and 3 more");
}
