#include "identity/clocks/clock_plan.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kNowUs = 1'795'202'969'000'000;
constexpr std::int64_t kDayUs = std::int64_t{86'400} * 1'000'000;

struct CheckedFile {
  FileEvidence evidence = {};
  StartTimes starts = {};
  std::optional<std::int64_t> chosen_rank = {};  // RANK=path
};

CheckedFile composer_with_events(std::int64_t rank, std::int64_t sync_us, std::int64_t first_us,
                                 std::int64_t last_us) {
  CheckedFile file;
  file.evidence.rank_marks.add({rank, std::to_string(rank), 5});
  file.evidence.syncs.add({sync_us, "0", 100});
  file.evidence.error_bounds.add({999, "0", 120});
  file.starts.add(first_us * 1000);
  file.starts.add(last_us * 1000);
  return file;
}

CheckedFile of_world(std::int64_t rank, std::int64_t world_size) {
  CheckedFile file;
  file.evidence.distributed_rank = rank;
  file.evidence.world_size = world_size;
  return file;
}

// Returns "count sentence" for each file, "" for a file without the problem.
std::vector<std::string> said(const std::vector<CheckedFile>& files, Problem problem) {
  ReadInputs inputs;
  for (const CheckedFile& file : files)
    inputs.add({"f" + std::to_string(inputs.inputs.size()), file.chosen_rank}, file.evidence,
               file.starts);
  std::vector<std::string> words;
  for (const FileClock& clock : plan_clocks(inputs.all(), assign_ranks(inputs.all())).clocks) {
    const std::uint64_t count = clock.problems.count(problem);
    words.push_back(count == 0 ? ""
                               : std::to_string(count) + " " +
                                     std::string(clock.problems.explanation(problem)));
  }
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("clock_checks: a second sync is named beside the one that is used") {
  CheckedFile file = composer_with_events(0, kNowUs, kNowUs, kNowUs);
  file.evidence.syncs.add({kNowUs + 7, "0", 300});
  file.evidence.syncs.add({kNowUs, "1", 400});
  file.evidence.top_level_sync_us = 12;
  CHECK(said({file}, Problem::sync_conflict) ==
        Words{"2 1795202969000000 us, not 1795202969000007, 12"});
  CHECK(said({composer_with_events(0, kNowUs, kNowUs, kNowUs)}, Problem::sync_conflict) ==
        Words{""});
}

TEST_CASE("clock_checks: a sync is of the run if it is within ten minutes of its events") {
  constexpr std::int64_t kTenMinutesUs = 600'000'000;
  const auto at = [](std::int64_t sync_us) {
    return composer_with_events(0, sync_us, kNowUs, kNowUs + 60);
  };
  CHECK(said({at(kNowUs - kTenMinutesUs)}, Problem::far_sync) == Words{""});
  CHECK(said({at(kNowUs + 60 + kTenMinutesUs)}, Problem::far_sync) == Words{""});
  CHECK(said({at(kNowUs - kTenMinutesUs - 5)}, Problem::far_sync) ==
        Words{"1 600.000 s from its events"});
  CHECK(said({at(kNowUs + 2 * kDayUs)}, Problem::far_sync) ==
        Words{"1 172,800.000 s from its events"});
  SUBCASE("on the clock of its base") {
    CheckedFile based = composer_with_events(0, kNowUs, 5, 9);
    based.evidence.base_ns = kNowUs * 1000;
    CHECK(said({based}, Problem::far_sync) == Words{""});
    based.evidence.base_ns = (kNowUs - 3 * kDayUs) * 1000;
    CHECK(said({based}, Problem::far_sync) == Words{"1 259,200.000 s from its events"});
  }
  SUBCASE("and not where the two cannot be compared") {
    CHECK(said({composer_with_events(0, 5, kNowUs, kNowUs)}, Problem::far_sync) == Words{""});
    CheckedFile empty = composer_with_events(0, kNowUs, kNowUs, kNowUs);
    empty.starts = {};
    CHECK(said({empty}, Problem::far_sync) == Words{""});
  }
}

TEST_CASE("clock_checks: ranks of one run are within a day of each other") {
  const auto rank = [](std::int64_t number, std::int64_t us) {
    return composer_with_events(number, us, us, us);
  };
  CHECK(said({rank(0, kNowUs), rank(1, kNowUs - kDayUs)}, Problem::far_sync) == Words{"", ""});
  CHECK(said({rank(0, kNowUs), rank(1, kNowUs - kDayUs - 1), rank(2, kNowUs + 3 * kDayUs)},
             Problem::far_sync) ==
        Words{"", "1 -86,400.000 s from the reference", "1 259,200.000 s from the reference"});
  CHECK(said({rank(0, 5), rank(1, kNowUs)}, Problem::far_sync) == Words{"", ""});
}

TEST_CASE("clock_checks: a sync of more than a millisecond is worth a word") {
  CheckedFile wide = composer_with_events(0, kNowUs, kNowUs, kNowUs);
  CHECK(said({wide}, Problem::wide_sync) == Words{""});
  wide.evidence.error_bounds = {};
  wide.evidence.error_bounds.add({1000, "0", 120});
  CHECK(said({wide}, Problem::wide_sync) == Words{"1 up to 1.001 ms"});
  CheckedFile wider = composer_with_events(0, kNowUs + 100, kNowUs - 50, kNowUs);
  wider.evidence.error_bounds = {};
  wider.evidence.error_bounds.add({2000, "0", 120});
  // The message belongs to the first file in time, whichever was given first.
  const CheckedFile first = composer_with_events(0, kNowUs + 500, kNowUs, kNowUs);
  CHECK(said({first, wide, wider}, Problem::wide_sync) == Words{"", "", "1 up to 2.001 ms"});
  CHECK(said({wider, wide, first}, Problem::wide_sync) == Words{"1 up to 2.001 ms", "", ""});
}

TEST_CASE("clock_checks: ranks that no file is of are named") {
  CHECK(said({of_world(1, 4), of_world(2, 4)}, Problem::missing_rank) == Words{"2 0, 3 of 4", ""});
  CHECK(said({of_world(0, 3), of_world(2, 3), of_world(1, 3)}, Problem::missing_rank) ==
        Words{"", "", ""});
  CHECK(said({of_world(0, 1000), of_world(400, 1000)}, Problem::missing_rank) ==
        Words{"998 1-399, 401-999 of 1000", ""});
  std::vector<CheckedFile> even;
  for (std::int64_t rank = 0; rank < 40; rank += 2) even.push_back(of_world(rank, 40));
  CHECK(said(even, Problem::missing_rank)[0] == "20 1, 3, 5, 7, 9, 11, 13, 15 and 12 more of 40");
  SUBCASE("but not for one file alone") {
    CHECK(said({of_world(0, 8)}, Problem::missing_rank) == Words{""});
    CHECK(said({composer_with_events(5, kNowUs, kNowUs, kNowUs)}, Problem::missing_rank) ==
          Words{""});
  }
  SUBCASE("where no file names the world, those below the highest rank") {
    const auto rank = [](std::int64_t number) {
      return composer_with_events(number, kNowUs, kNowUs, kNowUs);
    };
    CHECK(said({rank(1), rank(5)}, Problem::missing_rank) == Words{"4 0, 2-4", ""});
    CHECK(said({rank(5), rank(1)}, Problem::missing_rank) == Words{"", "4 0, 2-4"});
    CHECK(said({rank(1), rank(0)}, Problem::missing_rank) == Words{"", ""});
    CheckedFile chosen = rank(1);
    chosen.chosen_rank = 7;
    CHECK(said({rank(1), chosen}, Problem::missing_rank) == Words{"", ""});
  }
  SUBCASE("names may name the world, too") {
    ReadInputs inputs;
    inputs.add({"rank0of4.json", std::nullopt}, {});
    inputs.add({"rank1of4.json", std::nullopt}, {});
    const ClockPlan plan = plan_clocks(inputs.all(), assign_ranks(inputs.all()));
    CHECK(plan.clocks[0].problems.count(Problem::missing_rank) == 2);
    CHECK(plan.clocks[0].problems.explanation(Problem::missing_rank) == "2-3 of 4");
  }
  SUBCASE("a merged file has all its ranks, and a rank beyond the world fills no gap") {
    CheckedFile merged = composer_with_events(0, kNowUs, kNowUs, kNowUs);
    merged.evidence.rank_marks.add({1, "1", 7});
    CHECK(said({merged, of_world(2, 3)}, Problem::missing_rank) == Words{"", ""});
    CHECK(said({of_world(7, 2), of_world(0, 2)}, Problem::missing_rank) == Words{"", "1 1 of 2"});
  }
}
