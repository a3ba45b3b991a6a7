#include "comparison/judge/judge.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST_CASE("capture value: the first step and the outer fifths do not count") {
  const std::vector<std::int64_t> steps{9, 5, 1, 2, 3, 4, 8, 6, 7, 10, 11};
  CHECK(middle_steps(used_steps(steps)) == std::vector<std::size_t>{3, 4, 0, 6, 7, 5});
  CHECK(capture_value(steps) == 5.5);
}

TEST_CASE("capture value: of the first steps alone, as many as another capture has") {
  const std::vector<std::int64_t> steps{90, 10, 20, 30, 40, 50, 1000, 2000};
  CHECK(middle_steps(used_steps(steps, 6)) == std::vector<std::size_t>{1, 2, 3});
  CHECK(capture_value(steps, 6) == 30.0);
  CHECK_FALSE(capture_value(steps, 5));
  CHECK(mean_of_steps(steps, 6) == 30.0);
  CHECK(mean_of_steps(steps) == 450.0);
  CHECK(mean_of_steps({90}) == 0.0);
  CHECK(count_slow_steps(used_steps(steps, 6)) == 1);
}

TEST_CASE("capture value: a stall does not move it") {
  CHECK(capture_value({9, 5, 1, 2, 3, 4, 8, 6, 7, 10, 1'000'000}) == 5.5);
}

TEST_CASE("capture value: steps of one length stay in order") {
  CHECK(middle_steps(Lengths{2, 2, 2, 2, 2}) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("capture value: five steps beside the first are the least") {
  CHECK(capture_value({9, 1, 2, 3, 4, 7}) == 3.0);
  CHECK_FALSE(capture_value({9, 1, 2, 3, 4}));
  CHECK_FALSE(capture_value({}));
  CHECK(middle_steps({}).empty());
  CHECK(middle_mean({}) == 0.0);
}

TEST_CASE("capture value: of three and four steps of a kind the middle ones count") {
  CHECK(middle_mean(Lengths{7, 100}) == 53.5);
  CHECK(middle_mean(Lengths{1, 7, 100}) == 7.0);
  CHECK(middle_mean(Lengths{1, 7, 100, 9}) == 8.0);
}

TEST_CASE("capture_value: steps without a length show nothing") {
  CHECK(!capture_value({5, 0, 0, 0, 0, 0}).has_value());
}

TEST_CASE("two captures do not have the same steps, unless all steps are alike") {
  CHECK(are_of_one_capture({9, 5, 7}, {9, 5, 7}));
  CHECK_FALSE(are_of_one_capture({9, 5, 7}, {9, 5, 8}));
  CHECK_FALSE(are_of_one_capture({9, 5, 7}, {9, 5}));
  CHECK_FALSE(are_of_one_capture({5, 5, 5}, {5, 5, 5}));
  CHECK_FALSE(are_of_one_capture({}, {}));
}

TEST_CASE("slow steps are half as long again as the median") {
  CHECK(count_slow_steps(Lengths{100, 100, 149, 150, 300}) == 1);
  CHECK(count_slow_steps(Lengths{100, 100, 100, 149, 150, 300}) == 2);
  CHECK(count_slow_steps({}) == 0);
  CHECK(count_slow_steps(Lengths{0, 0}) == 0);
}

}  // namespace
}  // namespace traceloom
