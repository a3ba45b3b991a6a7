#include "base/packed_rows.h"

#include "run/event_columns.h"
#include "run/steps.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kLeastNumber = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

// Numbers of all sizes, below 0 too, whole thousands as often as others.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : random_(seed) {}

  std::int64_t any() {
    const auto bits = static_cast<unsigned>(random_() % 64);
    const auto number = static_cast<std::int64_t>(random_() >> bits);
    switch (random_() % 8) {
      case 0:
        return kLeastNumber;
      case 1:
        return kMostNumber;
      case 2:
      case 3:
      case 4:
        return number / 1'000'000 * 1000;
      case 5:
        return -number;
      default:
        return number;
    }
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(any()); }
  bool flag() { return random_() % 2 == 0; }

 private:
  std::mt19937_64 random_;
};

HostSpan any_span(Numbers& numbers) {
  return {numbers.any(), numbers.any(), numbers.small(), numbers.flag() ? 7 : numbers.small()};
}

MarkedSpan any_mark(Numbers& numbers) {
  const SpanMark mark = numbers.flag() ? SpanMark::barrier : SpanMark::collective;
  const bool has_arguments = mark == SpanMark::collective && numbers.flag();
  return {any_span(numbers),
          numbers.any(),
          static_cast<std::int32_t>(numbers.small()),
          mark,
          numbers.flag(),
          has_arguments ? numbers.small() : kNoDetail};
}

Step any_step(Numbers& numbers) {
  Step step;
  step.number = numbers.any();
  step.epoch = numbers.flag() ? kNoId : numbers.any();
  step.time = {numbers.any(), numbers.any()};
  step.host = numbers.flag() ? step.time : Interval{numbers.any(), numbers.any()};
  step.device_ops = static_cast<std::uint64_t>(numbers.any());
  step.counted = numbers.flag();
  return step;
}

void check_same(const HostSpan& a, const HostSpan& b) {
  CHECK(a.start_ns == b.start_ns);
  CHECK(a.end_ns == b.end_ns);
  CHECK(a.label == b.label);
  CHECK(a.track == b.track);
}
void check_same(const MarkedSpan& a, const MarkedSpan& b) {
  check_same(static_cast<const HostSpan&>(a), static_cast<const HostSpan&>(b));
  CHECK(a.number == b.number);
  CHECK(a.epoch == b.epoch);
  CHECK(a.mark == b.mark);
  CHECK(a.is_merged == b.is_merged);
  CHECK(a.arguments == b.arguments);
}
void check_same(const Step& a, const Step& b) {
  CHECK(a.number == b.number);
  CHECK(a.epoch == b.epoch);
  CHECK(a.time == b.time);
  CHECK(a.host == b.host);
  CHECK(a.device_ops == b.device_ops);
  CHECK(a.counted == b.counted);
}

template <typename Row>
void check_round_trip(Row (*any_row)(Numbers&)) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    std::vector<Row> rows;
    PackedRows<Row> packed;
    const std::uint32_t count = seed == 49 ? 5'000 : seed;  // 1 to 10 of the largest blocks
    for (std::uint32_t i = 0; i < count; ++i) {
      rows.push_back(any_row(numbers));
      packed.push_back(rows.back());
    }
    REQUIRE(packed.size() == rows.size());
    std::size_t i = 0;
    for (const Row& row : packed) check_same(row, rows.at(i++));
    CHECK(i == rows.size());
  }
}

HostSpan span(std::int64_t start_ns, std::int64_t end_ns) {
  return {start_ns, end_ns, 3, 1};
}

}  // namespace

TEST_CASE("packed rows: are what they were, whatever the numbers are") {
  check_round_trip(any_span);
  check_round_trip(any_mark);
  check_round_trip(any_step);
}

TEST_CASE("packed rows: of none there is none to read") {
  const PackedRows<HostSpan> none;
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  CHECK_THROWS_AS(none.at(0), std::out_of_range);
}

TEST_CASE("packed rows: one is found by its place") {
  PackedRows<HostSpan> rows;
  rows.push_back(span(1, 2));
  rows.push_back(span(5, 9));
  CHECK(rows.at(1).end_ns == 9);
  CHECK(rows.at(0).start_ns == 1);
  CHECK_THROWS_AS(rows.at(2), std::out_of_range);
}

TEST_CASE("packed rows: can be changed and left out, and others follow") {
  PackedRows<HostSpan> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(span(i * 10, i * 10 + 5));
  rows.rewrite([](HostSpan& row) {
    row.start_ns += 2;
    return row.end_ns % 20 == 5;
  });
  rows.push_back(span(7, 8));
  std::vector<std::int64_t> starts;
  for (const HostSpan& row : rows) starts.push_back(row.start_ns);
  CHECK(starts == std::vector<std::int64_t>{2, 22, 42, 62, 82, 7});
  rows.clear();
  CHECK(rows.empty());
  rows.push_back(span(-4, -1));
  CHECK(rows.at(0).start_ns == -4);
}

TEST_CASE("packed rows: many fill many blocks") {
  PackedRows<HostSpan> rows;
  for (std::int64_t i = 0; i < 60'000; ++i) rows.push_back(span(i * i, i * i + 1));
  rows.shrink_to_fit();
  rows.rewrite([](HostSpan& row) { return row.start_ns % 3 == 0; });
  REQUIRE(rows.size() == 20'000);
  std::int64_t i = 0;
  for (const HostSpan& row : rows) {
    CHECK(row.start_ns == i * i);
    i += 3;
  }
  rows.clear();
  CHECK(rows.begin() == rows.end());
  rows.push_back(span(7, 8));
  CHECK(rows.at(0).start_ns == 7);
}
