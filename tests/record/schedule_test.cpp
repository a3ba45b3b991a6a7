#include "record/schedule.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// Returns the actions of one epoch: S skip, W warmup, A active, X active_and_save.
std::string actions(const CyclicSchedule& cycle, unsigned batches, bool length_known = true,
                    unsigned first = 0, unsigned epoch = 0) {
  const Schedule schedule = cyclic_schedule(cycle);
  std::string letters;
  for (unsigned batch = first; batch < batches; ++batch) {
    Position position;
    position.epoch = epoch;
    position.batch = 1000 + batch;  // counts in the run and makes no difference
    position.batch_in_epoch = batch;
    if (length_known) position.epoch_batches = batches;
    letters += "SWAX"[static_cast<int>(schedule(position))];
  }
  return letters;
}

std::string refusal(const CyclicSchedule& cycle) {
  try {
    cyclic_schedule(cycle);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("schedule: every row of the table of what Composer's cyclic schedule does") {
  CHECK(actions({}, 12) == "WAAAXSSSSSSS");
  CyclicSchedule guide{.skip_first = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 1};
  CHECK(actions(guide, 12) == "SSWAXSSSSSSS");
  guide.repeat = 2;
  CHECK(actions(guide, 12) == "SSWAXSWAXSSS");
  CyclicSchedule longer{.skip_first = 1, .wait = 2, .warmup = 3, .active = 4, .repeat = 0};
  CHECK(actions(longer, 12) == "SSSWWWAAAXSS");
  CHECK(actions({.warmup = 0, .active = 1000, .repeat = 0}, 12) == "AAAAAAAAAAAX");
  CHECK(actions({.warmup = 0, .active = 1, .repeat = 0}, 12) == "XXXXXXXXXXXX");
  CHECK(actions({.active = 0, .repeat = 0}, 12) == "WWWWWWWWWWWW");
  CHECK(actions({.warmup = 1, .active = 8}, 4) == "WAAX");
  CHECK(actions({.warmup = 1, .active = 8}, 4, false) == "WAAA");
  longer.resumed_at = 4;
  CHECK(actions(longer, 16) == "SSSSSSSWWWAAAXSS");
  // Composer divides by zero here.
  CHECK(refusal({.warmup = 0, .active = 0, .repeat = 0}) ==
        "schedule: wait, warmup and active are all 0, so no cycle has a batch; active = 1 records "
        "one");
}

TEST_CASE("schedule: what Composer's own tests ask of it") {
  CyclicSchedule cycle{.skip_first = 1, .wait = 2, .warmup = 3, .active = 4, .repeat = 0};
  const auto at = [&](std::uint64_t batch) {
    Position position;
    position.batch_in_epoch = batch;
    return action_at(cycle, position);
  };
  CHECK(at(0) == Action::skip);
  CHECK(at(1) == Action::skip);
  CHECK(at(3) == Action::warmup);
  CHECK(at(6) == Action::active);
  CHECK(at(7) == Action::active);
  CHECK(at(14) == Action::warmup);
  CHECK(at(15) == Action::active);
  cycle.repeat = 1;
  CHECK(at(15) == Action::skip);
  cycle.resumed_at = 4;
  CHECK(at(7) == Action::warmup);
}

TEST_CASE("schedule: starts anew in each epoch, and resumes in one when it is told which") {
  CyclicSchedule cycle{.warmup = 1, .active = 2, .repeat = 1, .resumed_at = 3};
  CHECK(actions(cycle, 8, true, 3, 5) == "WAXSS");
  CHECK(actions(cycle, 8, true, 0, 6) == "SSSWAXSS");  // Composer does so
  cycle.resumed_epoch = 5;
  CHECK(actions(cycle, 8, true, 3, 5) == "WAXSS");
  CHECK(actions(cycle, 8, true, 0, 6) == "WAXSSSSS");
}

TEST_CASE("schedule: the last batch of an epoch is not saved when it is a warmup or skipped") {
  CHECK(actions({.warmup = 3, .active = 1}, 2) == "WW");
  CHECK(actions({.wait = 2, .warmup = 1}, 2) == "SS");
}

TEST_CASE("schedule: refuses numbers that count nothing") {
  CHECK(refusal({.skip_first = -1}) ==
        "schedule: skip_first is -1; it counts batches, from 0 to 1000000000000");
  CHECK(refusal({.resumed_at = -4}) ==
        "schedule: resumed_at is -4; it counts batches, from 0 to 1000000000000");
  CHECK(refusal({.active = 2'000'000'000'000}) ==
        "schedule: active is 2000000000000; it counts batches, from 0 to 1000000000000");
  CHECK(refusal({.skip_first = 1'000'000'000'000, .repeat = 1'000'000'000'000}) == "taken");
}

TEST_CASE("schedule: may be any function of the position") {
  const Schedule every_tenth = [](const Position& at) {
    return at.batch % 10 == 9 ? Action::active_and_save : Action::skip;
  };
  Position position;
  position.batch = 19;
  CHECK(every_tenth(position) == Action::active_and_save);
  position.batch = 20;
  CHECK(every_tenth(position) == Action::skip);
}
