#include "digest/records.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

using namespace traceloom::digest;

namespace {

std::vector<double> multiples(double unit, std::uint64_t most, std::size_t count) {
  std::mt19937_64 random(17);
  std::vector<double> numbers;
  while (numbers.size() < count) numbers.push_back(static_cast<double>(random() % most + 1) * unit);
  return numbers;
}

}  // namespace

TEST_CASE("common_unit: the unit of products, also of those that were divided afterwards") {
  for (const double unit : {1.5384627112173259, 0.001, 1.0 / 3, 2.3e-4}) {
    CAPTURE(unit);
    const std::optional<double> found = common_unit(multiples(unit, 5000, 24));
    REQUIRE(found);
    CHECK(*found == doctest::Approx(unit));
    for (const double number : multiples(unit, 100'000, 1000)) {
      CHECK(multiple_of(number, *found));
      CHECK(multiple_of(number / 1000, *found / 1000));
    }
  }
}

TEST_CASE("common_unit: numbers without one") {
  CHECK(!common_unit({}));
  CHECK(!common_unit({0.0, 1.0}));
  CHECK(!common_unit({1.0, std::numeric_limits<double>::infinity()}));
  std::mt19937_64 random(19);
  std::vector<double> numbers;
  while (numbers.size() < 24) numbers.push_back(static_cast<double>(random()) / 1e15);
  CHECK(!common_unit(numbers));
}

TEST_CASE("multiple_of: number_of() gives the same double") {
  std::mt19937_64 random(23);
  for (const double number : multiples(-0.0015384627112173259, 1 << 20, 1000)) {
    const double moved = std::nextafter(number, random() % 2 == 0 ? 0 : -1e9);
    const std::optional<Multiple> multiple = multiple_of(moved, 0.0015384627112173259);
    REQUIRE(multiple);
    CHECK(number_of(*multiple) == moved);
  }
  CHECK(!multiple_of(0.0, 0.5));
  CHECK(!multiple_of(0.7, 0.5));
  CHECK(!multiple_of(1e300, 0.5));
  CHECK(!multiple_of(1.0, 0.0));
  CHECK(!multiple_of(1.0, std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("Units: a key has a unit after 24 numbers, and another one after 24 that do not fit it") {
  Units units;
  const std::vector<double> first = multiples(0.0015384627112173259, 1000, 30);
  for (std::size_t i = 0; i < 30; ++i) CHECK(units.find("dur", first[i]).has_value() == (i >= 23));
  CHECK(!units.find("ts", first[0]));
  const std::vector<double> second = multiples(0.00077712345678, 1000, 30);
  std::size_t found = 0;
  for (const double number : second) found += units.find("dur", number) ? 1 : 0;
  CHECK(found >= 6);
  CHECK(units.find("dur", second[0]));
}
