#include "clock/clock_files.h"
#include "clock/clock_syncs.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("sync_rounds: the offset lies between what each round allows for") {
  // b is 1000 ahead. In each round both leave after both have entered.
  const SyncRounds a{{100, 200}, {150, 260}};
  const SyncRounds b{{1'105, 1'240}, {1'152, 1'262}};
  const std::optional<ClockOffset> offset = clock_offset(a, b);
  REQUIRE(offset);
  // Round 1: 1105 - 150 = 955 to 1152 - 100 = 1052. Round 2: 1240 - 260 = 980 to 1262 - 200 = 1062.
  // Each is 1 ns wider: what clocks may drift within the rounds, rounded up.
  CHECK(offset->ahead == ClockRange{979, 1'053});
  CHECK(offset->at_ns == (1'240 + 1'262) / 2);
  CHECK_FALSE(offset->is_contradiction());
  CHECK(offset->ahead.middle_ns() == 1'016);
  CHECK(offset->ahead.error_ns() == 37);
}

TEST_CASE("sync_rounds: the other way round it is the negative of it") {
  const SyncRounds a{{100, 200}, {150, 260}};
  const SyncRounds b{{1'105, 1'240}, {1'152, 1'262}};
  CHECK(clock_offset(b, a)->ahead == ClockRange{-1'053, -979});
}

TEST_CASE("sync_rounds: what is long before the middle says less, by 500 ppm") {
  // The first round is a second before the second one, and would say 0 to 10 by itself.
  const SyncRounds a{{0, 1'000'000'000}, {10, 1'000'100'000}};
  const SyncRounds b{{10, 1'000'000'000}, {10, 1'000'100'000}};
  const std::optional<ClockOffset> offset = clock_offset(a, b);
  CHECK(offset->at_ns == 1'000'050'000);
  // 1'000'050'000 - 10 ns at 500 ppm are 500'025 ns; the second round has -100'025 to 100'025.
  CHECK(offset->ahead == ClockRange{-100'025, 100'025});
  const SyncRounds alone_a{{0}, {10}};
  const SyncRounds alone_b{{10}, {10}};
  CHECK(clock_offset(alone_a, alone_b)->ahead == ClockRange{0, 10});
  CHECK(clock_offset(alone_a, alone_b)->at_ns == 10);
}

TEST_CASE("sync_rounds: rounds that exclude each other are a contradiction") {
  const SyncRounds a{{0, 1'000}, {10, 1'010}};
  const SyncRounds b{{0, 6'000}, {10, 6'010}};  // set by 5000 between them
  REQUIRE(clock_offset(a, b));
  CHECK(clock_offset(a, b)->is_contradiction());
  // 10 or more by the first round, and at most as much by the second, with 1 ns for drift in each.
  CHECK_FALSE(clock_offset({{0, 0}, {10, 10}}, {{20, 0}, {30, 8}})->is_contradiction());
  CHECK(clock_offset({{0, 0}, {10, 10}}, {{20, 0}, {30, 7}})->is_contradiction());
}

TEST_CASE("sync_rounds: without rounds, or with another number of them, nothing is known") {
  CHECK_FALSE(clock_offset({}, {}));
  CHECK_FALSE(clock_offset({{1}, {2}}, {}));
  CHECK_FALSE(clock_offset({{1, 3}, {2, 4}}, {{1}, {2}}));
  CHECK_FALSE(clock_offset({{kMin}, {kMin}}, {{kMax}, {kMax}}));
}

TEST_CASE("sync_rounds: ranks of a clock are one that enters last and leaves first") {
  SyncRounds rounds{{10, 50}, {20, 60}};
  CHECK(join(rounds, {{12, 45}, {22, 58}}));
  CHECK(rounds == SyncRounds{{12, 50}, {20, 58}});
  CHECK(is_possible(rounds));
  CHECK_FALSE(join(rounds, {{1}, {2}}));
  CHECK(rounds == SyncRounds{{12, 50}, {20, 58}});
  CHECK(join(rounds, {{21, 50}, {30, 60}}));
  CHECK_FALSE(is_possible(rounds));
  CHECK_FALSE(is_possible({{1, 2}, {3}}));
}

TEST_CASE("sync_rounds: on the machine's clock an enter is as early, an exit as late as may be") {
  CHECK(on_machine({{1'000}, {1'100}}, {400, 410}) == SyncRounds{{590}, {700}});
  CHECK_FALSE(on_machine({{kMin}, {0}}, {0, 1}));
  CHECK_FALSE(on_machine({{0}, {kMax}}, {-1, 0}));
}

TEST_CASE("sync_rounds: files of one machine are shifted only where their clocks differ for sure") {
  const std::optional<MachineShift> equal = machine_shift({100, 140}, {110, 170});
  REQUIRE(equal);  // -70 to 30
  CHECK(equal->shift_ns == 0);
  CHECK(equal->error_ns == 70);
  const std::optional<MachineShift> apart = machine_shift({5'100, 5'140}, {110, 170});
  REQUIRE(apart);  // 4930 to 5030
  CHECK(apart->shift_ns == 4'980);
  CHECK(apart->error_ns == 50);
  CHECK_FALSE(machine_shift({kMax, kMax}, {-1, 0}));
}

TEST_CASE("sync_rounds: ranges add up with all that is in them") {
  CHECK(sum(ClockRange{1, 2}, ClockRange{10, 20}) == ClockRange{11, 22});
  CHECK(difference({1, 2}, {10, 20}) == ClockRange{-19, -8});
  CHECK(hull({1, 2}, {-5, 1}) == ClockRange{-5, 2});
  CHECK_FALSE(sum(ClockRange{0, kMax}, ClockRange{0, 1}));
  CHECK(ClockRange{kMin, kMax}.middle_ns() == -1);
  CHECK(ClockRange{kMin, kMax}.error_ns() == kMax);
  CHECK(ClockRange{-3, 0}.middle_ns() == -2);
  CHECK(ClockRange{-3, 0}.error_ns() == 2);
  CHECK(farthest(5, {-1, 7}) == 6);
  CHECK(farthest(9, {-1, 7}) == 10);
}
