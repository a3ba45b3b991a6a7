#include "identity/clocks/clock_plan.h"

#include "identity/read_inputs.h"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

using namespace traceloom;

namespace {

// The facts about one input; `plan()` combines several inputs.
struct PlannedFile {
  std::string path;
  FileEvidence evidence;
  std::optional<std::int64_t> first_ns = {};
};

FileEvidence composer_with_syncs(std::int64_t rank, const std::vector<std::int64_t>& syncs,
                                 const std::vector<std::int64_t>& bounds = {}) {
  FileEvidence evidence;
  const std::string pid = std::to_string(rank);
  evidence.rank_marks.add({rank, pid, 5});
  std::uint64_t offset = 100;
  for (const std::int64_t sync : syncs) evidence.syncs.add({sync, pid, offset += 10});
  for (const std::int64_t bound : bounds) evidence.error_bounds.add({bound, pid, offset += 10});
  return evidence;
}

StartTimes starts_at(std::int64_t ns) {
  StartTimes starts;
  starts.add(ns);
  return starts;
}

ClockPlan plan(const std::vector<PlannedFile>& files) {
  ReadInputs inputs;
  for (const PlannedFile& file : files)
    inputs.add({file.path, std::nullopt}, file.evidence,
               file.first_ns ? starts_at(*file.first_ns) : StartTimes());
  return plan_clocks(inputs.all(), assign_ranks(inputs.all()));
}

}  // namespace

TEST_CASE("clock_plan: shifts by the first sync and starts at the earliest event") {
  // Two cycles whose syncs are in the other order than the names, clocks 37 us a rank apart.
  const ClockPlan result = plan({
      {"ep0-ba4-rank0.json", composer_with_syncs(0, {1'795'202'969'005'000}, {20}),
       1'795'202'969'001'500'700},
      {"ep0-ba4-rank1.json", composer_with_syncs(1, {1'795'202'970'005'037}, {25}),
       1'795'202'970'001'000'000},
      {"ep1-ba9-rank0.json", composer_with_syncs(0, {1'795'202'999'005'000}, {30}),
       1'795'202'999'001'000'000},
      {"ep1-ba9-rank1.json", composer_with_syncs(1, {1'795'203'000'005'000}, {35}),
       1'795'203'000'001'000'000},
  });
  REQUIRE(result.clocks.size() == 4);
  CHECK(result.facts[3].rank == 1);
  CHECK(result.facts[3].cycle == "ep1-ba9");
  CHECK(result.facts[3].sync_us == 1'795'203'000'005'000);
  CHECK(result.facts[3].error_bound_us == 35);
  CHECK(result.facts[3].first_ns == 1'795'203'000'001'000'000);
  CHECK(result.clocks[0].offset_ns == 0);
  CHECK(result.clocks[1].offset_ns == -1'000'037'000);
  CHECK(result.clocks[2].offset_ns == 0);
  CHECK(result.clocks[3].offset_ns == -1'000'000'000);
  CHECK(result.clocks[1].error_ns == 21'000);
  CHECK(result.clocks[3].error_ns == 31'000);
  CHECK(result.origin_ns == 1'795'202'969'000'963'000);
  for (const FileClock& clock : result.clocks) CHECK(clock.problems.empty());
}

TEST_CASE("clock_plan: a top-level sync stands in for an event") {
  FileEvidence object;
  object.top_level_rank = 1;
  object.top_level_sync_us = 1'795'202'970'005'000;
  ClockPlan result = plan(
      {{"rank0.json", composer_with_syncs(0, {1'795'202'969'005'000})}, {"rank1.json", object}});
  CHECK(result.clocks[1].method == ClockMethod::sync);
  CHECK(result.clocks[1].offset_ns == -1'000'000'000);
  CHECK(result.clocks[1].problems.empty());

  object.syncs.add({1'795'202'970'006'000, "1", 300});
  result = plan(
      {{"rank0.json", composer_with_syncs(0, {1'795'202'969'005'000})}, {"rank1.json", object}});
  CHECK(result.clocks[1].offset_ns == -1'001'000'000);
  CHECK(result.clocks[1].problems.count(Problem::sync_conflict) == 1);
}

TEST_CASE("clock_plan: more than one sync in a file is counted, the first is used") {
  FileEvidence evidence = composer_with_syncs(1, {3000, 903000, 3000});
  evidence.syncs.add({903000, "77", 900});
  const ClockPlan result =
      plan({{"rank0.json", composer_with_syncs(0, {1000})}, {"rank1.json", evidence}});
  CHECK(result.clocks[1].offset_ns == -2'000'000);
  CHECK(result.clocks[0].problems.empty());
  CHECK(result.clocks[1].problems.count(Problem::sync_conflict) == 1);
  CHECK(result.clocks[1].problems.first_offset(Problem::sync_conflict) == 120);
}

TEST_CASE("clock_plan: the same sync of two pids is no conflict") {
  FileEvidence evidence = composer_with_syncs(0, {1000});
  evidence.syncs.add({1000, "77", 900});
  evidence.top_level_sync_us = 1000;
  CHECK(plan({{"rank0.json", evidence}}).clocks[0].problems.empty());
}

TEST_CASE("clock_plan: a merged file has the sync of its lowest rank") {
  FileEvidence merged = composer_with_syncs(0, {1000, 2000}, {3});
  merged.rank_marks.add({1, "1", 400});
  merged.base_ns = 5'000;
  FileEvidence ours = composer_with_syncs(2, {9000});
  ours.merged_by = "0.1.0";
  REQUIRE_FALSE(ours.has_several_ranks());
  const ClockPlan result = plan({{"merged.json", merged, 7},
                                 {"out.json", ours, 90'000},
                                 {"rank3.json", composer_with_syncs(3, {4000}), 80'000},
                                 {"rank4.json", composer_with_syncs(4, {6000}), 80'000}});
  CHECK(result.facts[0].is_merged);
  CHECK(result.facts[0].sync_us == 1000);
  CHECK_FALSE(result.facts[0].error_bound_us.has_value());
  CHECK(result.clocks[0].method == ClockMethod::sync);
  CHECK(result.clocks[0].offset_ns == 5'000);
  CHECK(result.clocks[0].problems.empty());
  CHECK(result.clocks[1].method == ClockMethod::sync);
  CHECK(result.clocks[1].offset_ns == -8'000'000);
  CHECK(result.clocks[2].offset_ns == -3'000'000);
  CHECK(result.clocks[3].offset_ns == -5'000'000);
  CHECK(result.origin_ns == -7'910'000);
}

TEST_CASE("clock_plan: a merged file stays one whatever is known of its ranks") {
  FileEvidence ours;
  ours.merged_by = "0.1.0";
  ours.top_level_sync_us = 9000;
  CHECK(plan({{"rank0.json", ours}}).facts[0].is_merged);
  ours.top_level_sync_us.reset();
  CHECK(plan({{"rank0.json", ours}}).clocks[0].method == ClockMethod::merged);

  FileEvidence two = composer_with_syncs(0, {1000});
  two.rank_marks.add({1, "1", 400});
  ReadInputs inputs;
  inputs.add({"merged.json", 3}, two, starts_at(7));
  const std::vector<FileRank> ranks = assign_ranks(inputs.all());
  REQUIRE_FALSE(ranks[0].is_merged());
  CHECK(plan_clocks(inputs.all(), ranks).facts[0].is_merged);
}

TEST_CASE("clock_plan: a torch file goes by the Composer file of its rank") {
  FileEvidence torch;
  torch.top_level_rank = 1;
  torch.base_ns = 1'795'202'000'000'000'000;
  const ClockPlan result =
      plan({{"ep0-ba4-rank0.json", composer_with_syncs(0, {1'795'202'969'005'000})},
            {"ep0-ba4-rank1.json", composer_with_syncs(1, {1'795'202'970'005'000})},
            {"rank1.4.pt.trace.json", torch, 970'006'000'000}});
  CHECK(result.clocks[2].method == ClockMethod::sync_of_rank);
  CHECK(result.clocks[2].offset_ns == 1'795'202'000'000'000'000 - 1'000'000'000);
  CHECK(result.origin_ns == 1'795'202'969'006'000'000);
}

TEST_CASE("clock_plan: another world size is counted") {
  PlannedFile a{"rank0.json", composer_with_syncs(0, {})};
  PlannedFile b{"rank1.json", composer_with_syncs(1, {})};
  PlannedFile c{"rank2.json", composer_with_syncs(2, {})};
  PlannedFile d{"rank3.json", composer_with_syncs(3, {})};
  b.evidence.world_size = 4;
  c.evidence.world_size = 2;
  d.evidence.world_size = 4;
  const ClockPlan result = plan({a, b, c, d});
  CHECK(result.clocks[0].problems.empty());
  CHECK(result.clocks[1].problems.count(Problem::world_size_disagrees) == 0);
  CHECK(result.clocks[2].problems.count(Problem::world_size_disagrees) == 1);
  CHECK(result.clocks[3].problems.empty());
}

TEST_CASE("clock_plan: a missing sync is counted where others have one") {
  const ClockPlan result =
      plan({{"rank0.json", composer_with_syncs(0, {1'795'202'969'005'000})},
            {"rank3.json", composer_with_syncs(3, {}), 1'795'202'972'001'000'000}});
  CHECK(result.clocks[1].method == ClockMethod::epoch);
  CHECK(result.clocks[1].offset_ns == 0);
  CHECK(result.clocks[1].problems.count(Problem::no_clock) == 1);
}

TEST_CASE("clock_plan: no inputs, no clocks") {
  const ClockPlan result = plan({});
  CHECK(result.facts.empty());
  CHECK(result.clocks.empty());
  CHECK(result.origin_ns == 0);
}

TEST_CASE("common_origin: the earliest corrected start, floored to a microsecond") {
  const auto origin_of = [](const std::vector<std::pair<std::int64_t, std::int64_t>>& files) {
    std::vector<StartTimes> starts;
    std::vector<FileClock> clocks;
    for (const auto& [offset_ns, first_ns] : files) {
      starts.push_back(starts_at(first_ns));
      clocks.emplace_back().times = TimeMap(offset_ns);
    }
    starts.emplace_back();  // a file without events
    clocks.emplace_back().times = TimeMap(-5'000'000'000);
    return common_origin_ns(starts, clocks);
  };
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(origin_of({}) == 0);
  CHECK(origin_of({{1'000'000, 2'999}, {0, 1'003'500}}) == 1'002'000);
  CHECK(origin_of({{0, -1}, {0, 5}}) == -1'000);
  CHECK(origin_of({{0, -2'000}}) == -2'000);
  // Times that do not fit are left out, and no microsecond lies below the lowest one.
  CHECK(origin_of({{kMin, -1}, {kMax, 1}, {5'000, 1}}) == 5'000);
  CHECK(origin_of({{kMin, 0}}) == kMin);
}

TEST_CASE("common_origin: looks at each cycle of a clock that was set back") {
  FileClock clock;
  clock.times = TimeMap::joined(
      0, {{1'000'000, 1'500'000, TimeMap(9'000'000)}, {2'000'000, 2'500'000, TimeMap(0)}});
  StartTimes starts = starts_at(1'000'000);
  CHECK(common_origin_ns({starts}, {clock}) == 10'000'000);
  starts.add(2'600'000);
  CHECK(common_origin_ns({starts}, {clock}) == 2'000'000);
}
