#include "summarize/span_table.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace traceloom;

namespace {

DurationValues sorted_values(const DurationColumn& column) {
  DurationValues values;
  column.copy_to(values);
  std::sort(values.small.begin(), values.small.end());
  std::sort(values.large.begin(), values.large.end());
  return values;
}

}  // namespace

TEST_CASE("duration_column: is empty at first") {
  const DurationColumn column;
  CHECK(column.empty());
  CHECK(sorted_values(column).size() == 0);
}

TEST_CASE("duration_column: gives back what it took, over many extents and between other columns") {
  ColumnArena arena;
  DurationColumn one;
  DurationColumn other;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    one.add(i, arena);
    if (i % 3 == 0) other.add(4'294'967'295 - i, arena);
    expected.push_back(i);
  }
  CHECK(sorted_values(one).small == expected);
  const DurationValues others = sorted_values(other);
  CHECK(others.small.size() == 33'334);
  CHECK(others.small.front() == 4'294'967'295 - 99'999);
  CHECK(others.small.back() == 4'294'967'295);
}

TEST_CASE("duration_column: keeps durations beyond 32 bits") {
  ColumnArena arena;
  DurationColumn column;
  column.add(4'294'967'296, arena);
  CHECK_FALSE(column.empty());
  column.add(4'294'967'295, arena);
  column.add(9'223'372'036'854'775'807, arena);
  const DurationValues values = sorted_values(column);
  CHECK(values.small == std::vector<std::uint32_t>{4'294'967'295});
  CHECK(values.large == std::vector<std::int64_t>{4'294'967'296, 9'223'372'036'854'775'807});
}

TEST_CASE("duration_column: appends to what the values hold already") {
  ColumnArena arena;
  DurationColumn column;
  column.add(5, arena);
  DurationValues values{{1}, {1'000'000'000'000}};
  column.copy_to(values);
  CHECK(values.small == std::vector<std::uint32_t>{1, 5});
  CHECK(values.size() == 3);
}
