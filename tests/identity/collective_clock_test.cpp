#include "identity/clocks/clock_plan.h"
#include "identity/collective_texts.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kBaseNs = 1'795'202'969'000'000'000;

// A job of ranks whose clocks are so many microseconds ahead, of 40 all-reduces 1 ms apart, into
// which rank 0 comes last, the others 30 us before it, and then in turn.
struct Job {
  std::vector<std::int64_t> ahead_us;
  std::vector<std::int64_t> set_us = {};  // added to the rank's clock from the middle on
  ClockOptions options = {};
  std::int64_t set_back_at = 1'000;  // from that round on, the clocks are as before
  std::int64_t first_round = 0;
  std::int64_t rounds = 40;
  bool of_one_group = true;
  bool names_group = true;  // else of gloo, which says no group and no Seq
  // Of which rank's group the kernels are; else all are of one.
  bool of_one_run = true;
  std::optional<std::int64_t> world_size = {};

  std::int64_t moving_us = 20;  // how long an all-reduce moves data
  std::int64_t drift_us = 0;    // the last rank's clock gains so much in a round
  std::int64_t late_us = 0;     // by so much the last rank's clock is off, every other time
  std::optional<std::int64_t> sync_bound_us = {};  // each has a clock sync, with that bound
  bool merges_last = false;                        // the last two are one file
  bool has_base = true;                            // else no file has any clock evidence

  std::string text_of(std::size_t rank) const {
    std::string text = kernel(ahead_us[rank], 40'500, "", "gemm");
    for (std::int64_t i = first_round; i < rounds; ++i) {
      const bool is_last = static_cast<std::size_t>(i) % ahead_us.size() == rank;
      std::int64_t begin_us = 1'000 * i + (is_last ? 30 : 0) + ahead_us[rank];
      if (i >= 20 && i < set_back_at && !set_us.empty()) begin_us += set_us[rank];
      if (i % 2 == 1 && rank + 1 == ahead_us.size()) begin_us += late_us;
      if (rank + 1 == ahead_us.size()) begin_us += drift_us * i;
      const std::int64_t seq = of_one_group ? i : i + 100 * static_cast<std::int64_t>(rank);
      const std::int64_t length_us = moving_us + (is_last ? 0 : 30);
      if (!names_group)
        text += gloo_all_reduce(begin_us, length_us);
      else
        text += all_reduce(begin_us, length_us, seq, of_one_run ? "0" : fmt::format("{}", rank));
    }
    return text;
  }

  ClockPlan plan() const {
    ReadInputs inputs;
    const std::size_t files = ahead_us.size() - (merges_last ? 1 : 0);
    for (std::size_t rank = 0; rank < files; ++rank) {
      const bool is_merged = merges_last && rank + 1 == files;
      StartTimes starts;
      FileEvidence evidence =
          collectives_of(text_of(rank) + (is_merged ? text_of(rank + 1) : ""), &starts);
      const auto add_rank = [&evidence](std::size_t of_pid) {
        const auto number = static_cast<std::int64_t>(of_pid);
        evidence.rank_marks.add({number, std::to_string(of_pid), 5});
      };
      if (is_merged) add_rank(rank);
      if (is_merged) add_rank(rank + 1);
      if (sync_bound_us) evidence.top_level_sync_us = kBaseNs / 1000;
      if (sync_bound_us) evidence.error_bounds.add({*sync_bound_us, std::to_string(rank), 9});
      if (has_base) evidence.base_ns = kBaseNs;
      evidence.world_size = world_size;
      inputs.add({fmt::format("rank{}.json", rank), std::nullopt}, evidence, starts);
    }
    return plan_clocks(inputs.all(), assign_ranks(inputs.all()), options);
  }
};

}  // namespace

TEST_CASE("collective_clock: thousands of ranks get their clocks like a few") {
  Job job{{}};
  job.rounds = 3;
  for (std::int64_t rank = 0; rank < 2'500; ++rank) job.ahead_us.push_back(rank % 50 * 100);
  const ClockPlan result = job.plan();
  for (std::size_t rank = 0; rank < job.ahead_us.size(); ++rank) {
    CAPTURE(rank);
    REQUIRE(result.clocks[rank].collectives.has_value());
    CHECK(result.clocks[rank].collectives->shift_ns == job.ahead_us[rank] * -1'000);
  }
}

TEST_CASE("collective_clock: a rank that is apart comes to the others by its collectives") {
  const ClockPlan result = Job{{0, 0, 70'000'000}}.plan();
  CHECK(result.clocks[0].method == ClockMethod::base);
  CHECK(result.clocks[0].error_ns == 0);
  const FileClock& moved = result.clocks[2];
  CHECK(moved.method == ClockMethod::collectives);
  CHECK(moved.is_known);
  CHECK(moved.offset_ns == kBaseNs - 70'000'000'000);
  CHECK(moved.times.mapped_or_same(70'000'000'000) == kBaseNs);
  REQUIRE(moved.collectives.has_value());
  CHECK(moved.collectives->is_used);
  CHECK(moved.collectives->shift_ns == -70'000'000'000);
  CHECK(moved.collectives->residual_p95_ns == 0);
  CHECK(moved.collectives->bound_ns == moved.error_ns);
  CHECK(*moved.error_ns >= 20'000);
  CHECK(*moved.error_ns <= 22'000);
  CHECK(moved.problems.explanation(Problem::shifted_clock) ==
        fmt::format(
            "rank 2 shifted by -70.000 s: its collectives end with the others' (±{}.{:03} us)",
            *moved.error_ns / 1000, *moved.error_ns % 1000));
  // The second rank agrees and stays.
  CHECK(result.clocks[1].method == ClockMethod::base);
  CHECK(result.clocks[1].offset_ns == kBaseNs);
  CHECK(result.clocks[1].problems.empty());
  CHECK(result.clocks[1].collectives.has_value());
}

TEST_CASE("collective_clock: ranks without any other evidence come together by collectives") {
  Job job{.ahead_us = {0, 70'000'000}};
  job.has_base = false;
  const std::vector<FileClock> clocks = job.plan().clocks;
  CHECK(clocks[0].method == ClockMethod::none);
  CHECK(clocks[1].method == ClockMethod::collectives);
  CHECK(clocks[1].offset_ns == -70'000'000'000);
  CHECK(clocks[1].problems.count(Problem::shifted_clock) == 1);
  CHECK(clocks[1].problems.count(Problem::no_clock) == 0);
}

TEST_CASE("collective_clock: ranks that nothing brings together are told") {
  Job job{.ahead_us = {0, 70'000'000}};
  job.has_base = false;
  job.rounds = 0;
  const std::vector<FileClock> clocks = job.plan().clocks;
  CHECK(clocks[1].offset_ns == 0);
  CHECK(clocks[0].problems.count(Problem::no_clock) == 0);
  CHECK(clocks[1].problems.count(Problem::no_clock) == 1);
  CHECK(clocks[1].problems.explanation(Problem::no_clock) == "rank 1");
}

TEST_CASE("collective_clock: base times that collectives allow for stay") {
  const ClockPlan result = Job{{0, 4, -5}}.plan();
  for (const FileClock& clock : result.clocks) {
    CHECK(clock.method == ClockMethod::base);
    CHECK(clock.offset_ns == kBaseNs);
    CHECK(clock.problems.empty());
  }
  REQUIRE(result.clocks[1].collectives.has_value());
  CHECK_FALSE(result.clocks[1].collectives->is_used);
  CHECK(result.clocks[1].collectives->shift_ns == -4'000);
  // The error of the clock that is kept includes the disagreement.
  CHECK(*result.clocks[1].error_ns > result.clocks[1].collectives->bound_ns);
  CHECK(*result.clocks[1].error_ns <= result.clocks[1].collectives->bound_ns + 4'000);
}

TEST_CASE("collective_clock: --align base, sync and none leave all as it is") {
  for (const AlignBy by : {AlignBy::base, AlignBy::sync, AlignBy::none}) {
    Job job{{0, 0, 70'000}};
    job.options.align_by = by;
    const ClockPlan result = job.plan();
    CHECK(result.clocks[2].method != ClockMethod::collectives);
    CHECK_FALSE(result.clocks[2].collectives.has_value());
    CHECK(result.clocks[2].problems.count(Problem::shifted_clock) == 0);
  }
}

TEST_CASE("collective_clock: an offset that was given stays, and others come to it") {
  Job job{{0, 0, 70'000}};
  job.options.offsets[2] = 0;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].method == ClockMethod::given);
  CHECK(result.clocks[2].offset_ns == kBaseNs);
  CHECK(result.clocks[0].method == ClockMethod::collectives);
  CHECK(result.clocks[0].offset_ns == kBaseNs + 70'000'000);
}

TEST_CASE("collective_clock: clocks that were set are left, and told with what would move them") {
  const ClockPlan result = Job{{0, 0, 0}, {0, 0, 4'000}}.plan();
  CHECK(result.clocks[2].method == ClockMethod::base);
  CHECK(result.clocks[2].offset_ns == kBaseNs);
  CHECK_FALSE(result.clocks[2].collectives.has_value());
  CHECK(result.clocks[2].problems.count(Problem::clock_conflict) == 1);
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 2: what collectives allow before and after contradicts itself by 4.000 ms; "
        "trace-merge --offset 2=-4000000ns brings the last of them together");
  CHECK(result.clocks[1].method == ClockMethod::base);
  CHECK(result.clocks[1].collectives.has_value());
}

TEST_CASE("collective_clock: no other offset is offered where one was given") {
  Job job{{0, 0, 0}, {0, 0, 4'000}};
  job.options.offsets[2] = -4'000'000;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 2: what collectives allow before and after contradicts itself by 4.000 ms; "
        "no offset fits all of them");
  CHECK(result.clocks[2].offset_ns == kBaseNs - 4'000'000);
  for (const std::size_t rank : {0, 1}) {
    CHECK(result.clocks[rank].problems.empty());
    CHECK(result.clocks[rank].offset_ns == kBaseNs);
    CHECK(result.clocks[rank].error_ns.has_value());
  }
}

TEST_CASE("collective_clock: ranks with given offsets are the ones that were set") {
  Job job{{0, 0, 0, 0}, {0, 0, 4'000, 4'000}};
  job.options.offsets = {{2, -4'000'000}, {3, -4'000'000}};
  const ClockPlan result = job.plan();
  CHECK(result.clocks[0].problems.empty());
  CHECK(result.clocks[1].problems.empty());
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clocks of ranks 2 and 3: what collectives allow before and after contradicts itself by "
        "4.000 ms; no offset fits all of them");
}

TEST_CASE(
    "collective_clock: a given offset that agrees stays the reference of a clock that was set") {
  Job job{{0, 0, 0}, {0, 0, 4'000}};
  job.options.offsets[1] = 0;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[1].problems.empty());
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 2: what collectives allow before and after contradicts itself by 4.000 ms; "
        "no offset fits all of them");
}

TEST_CASE("collective_clock: a clock that was set and set back is told with the size of the jump") {
  for (const auto& [set_us, words] :
       {std::pair(4'000, "4.000 ms"), {400, "400.000 us"}, {100, "100.000 us"}}) {
    Job job{{0, 0, 0, 0}, {0, 0, set_us, set_us}};
    job.set_back_at = 30;
    const ClockPlan result = job.plan();
    CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
          fmt::format("clocks of ranks 2 and 3: what collectives allow before and after "
                      "contradicts itself by {}; no offset fits all of them",
                      words));
    CHECK_FALSE(result.clocks[2].error_ns.has_value());
    CHECK(result.clocks[3].problems.empty());
  }
}

TEST_CASE("collective_clock: where the lowest rank's clock was set, the others are compared") {
  const ClockPlan result = Job{{0, 0, 70'000}, {4'000, 0, 0}}.plan();
  CHECK(result.clocks[0].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 0: what collectives allow before and after contradicts itself by 4.000 ms; "
        "trace-merge --offset 0=-4000000ns brings the last of them together");
  CHECK(result.clocks[1].problems.empty());
  CHECK(result.clocks[2].method == ClockMethod::collectives);
  CHECK(result.clocks[2].offset_ns == kBaseNs - 70'000'000);
}

TEST_CASE("collective_clock: a clock that runs much too fast is not said to have been set") {
  Job job{{0, 0, 0}};
  job.drift_us = 5;  // every millisecond
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 2: collectives show a drift of +5000 ppm, which clocks do not have");
  CHECK_FALSE(result.clocks[2].error_ns.has_value());
}

TEST_CASE("collective_clock: clocks within the least error stay where another is moved") {
  Job job{{0, 70'000, 4}};
  const ClockPlan exact = job.plan();
  CHECK(exact.clocks[1].offset_ns == kBaseNs - 70'000'000);
  CHECK(exact.clocks[2].method == ClockMethod::collectives);
  CHECK(exact.clocks[2].offset_ns == kBaseNs - 4'000);
  job.moving_us = 400;  // of which 3 % are 12 us
  const ClockPlan rough = job.plan();
  CHECK(rough.clocks[1].offset_ns == kBaseNs - 70'000'000);
  CHECK(rough.clocks[2].method == ClockMethod::base);
  CHECK(rough.clocks[2].offset_ns == kBaseNs);
  REQUIRE(rough.clocks[2].collectives.has_value());
  CHECK_FALSE(rough.clocks[2].collectives->is_used);
}

TEST_CASE("collective_clock: a clock that was set is told also where no group is named") {
  Job job{{0, 0, 0}, {0, 0, 4'000}};
  job.names_group = false;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.explanation(Problem::clock_conflict) ==
        "clock of rank 2: what collectives allow before and after contradicts itself by 4.000 ms "
        "(or they are of several groups, which they do not say); trace-merge --offset 2=-4000000ns "
        "brings the "
        "last of them together");
  CHECK_FALSE(result.clocks[2].error_ns.has_value());
  CHECK_FALSE(result.clocks[2].worst_error_ns.has_value());
  CHECK_FALSE(result.clocks[2].collectives.has_value());
  CHECK(result.clocks[1].problems.empty());
  CHECK(result.clocks[1].error_ns.has_value());
}

TEST_CASE("collective_clock: two collectives suffice to show that a clock was set") {
  Job job{{0, 0, 0}, {0, 0, 4'000}};
  job.names_group = false;
  job.rounds = 21;
  job.first_round = 19;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.count(Problem::clock_conflict) == 1);
  CHECK(result.clocks[1].problems.empty());
}

TEST_CASE("collective_clock: collectives without a group that never fit may be of several") {
  Job job{{0, 0, 0}};
  job.names_group = false;
  job.late_us = 300;  // every other one of rank 2
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.count(Problem::clock_conflict) == 0);
  CHECK(result.clocks[2].problems.count(Problem::no_common_collective) == 0);
  CHECK(result.clocks[2].problems.explanation(Problem::vague_collectives) ==
        "clock of rank 2: collectives that do not say their group contradict each other");
}

TEST_CASE("collective_clock: nothing is claimed of a clock sync that was set afterwards") {
  Job job{{0, 0, 0}, {0, 0, 4'000}};
  job.sync_bound_us = 20;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[1].method == ClockMethod::sync);
  CHECK(result.clocks[1].error_ns == 21'000);
  CHECK(result.clocks[2].method == ClockMethod::sync);
  CHECK(result.clocks[2].problems.count(Problem::clock_conflict) == 1);
  CHECK_FALSE(result.clocks[2].error_ns.has_value());
}

TEST_CASE("collective_clock: ranks that were moved alike are told in one line") {
  const ClockPlan result = Job{{0, 0, 5'000, 5'003, -80'000}}.plan();
  CHECK(result.clocks[2].problems.count(Problem::shifted_clock) == 2);
  CHECK(result.clocks[2].problems.explanation(Problem::shifted_clock).substr(0, 73) ==
        "ranks 2-3 shifted by -5.003 ms to -5.000 ms: their collectives end with t");
  CHECK(result.clocks[3].problems.empty());
  CHECK(result.clocks[3].method == ClockMethod::collectives);
  REQUIRE(result.clocks[3].collectives.has_value());
  CHECK(result.clocks[3].collectives->shift_ns == -5'003'000);
  CHECK(result.clocks[4].problems.explanation(Problem::shifted_clock).substr(0, 32) ==
        "rank 4 shifted by +80.000 ms: it");
}

TEST_CASE("collective_clock: ranks that were moved little are named, too") {
  const ClockPlan result = Job{{0, 70'000, 4}}.plan();
  CHECK(result.clocks[1].problems.count(Problem::shifted_clock) == 2);
  const std::string words(result.clocks[1].problems.explanation(Problem::shifted_clock));
  CHECK(words.starts_with("rank 1 shifted by -70.000 ms: its collectives end with the others' (±"));
  CHECK(words.ends_with("; rank 2 by -4.000 us, less than the ends are still apart"));
}

TEST_CASE("collective_clock: a shift that the bound does not require is told by the ends") {
  // The last rank of a collective leaves it 20 us after it has entered, which allows for 15 us.
  const ClockPlan result = Job{{0, 15}}.plan();
  CHECK(result.clocks[1].method == ClockMethod::collectives);
  const std::string words(result.clocks[1].problems.explanation(Problem::shifted_clock));
  CHECK(
      words.starts_with("rank 1 shifted by -15.000 us: the ends of the collectives come from "
                        "15.000 us to 0 ns apart (±"));
}

TEST_CASE("collective_clock: a merged file is moved as a whole") {
  Job job{{0, 0, 70'000'000, 70'000'000}};
  job.merges_last = true;
  const ClockPlan result = job.plan();
  REQUIRE(result.clocks.size() == 3);
  CHECK(result.facts[2].ranks == std::vector<std::int64_t>{2, 3});
  CHECK(result.clocks[2].method == ClockMethod::collectives);
  CHECK(result.clocks[2].offset_ns == kBaseNs - 70'000'000'000);
  CHECK(result.clocks[2].problems.explanation(Problem::shifted_clock).substr(0, 41) ==
        "ranks 2-3 shifted by -70.000 s: their col");
}

TEST_CASE("collective_clock: a merged file that nothing moves says what would") {
  Job job{{0, 0, 70'000'000, 70'000'000}};
  job.merges_last = true;
  job.of_one_group = false;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].method == ClockMethod::merged);
  CHECK(result.clocks[2].problems.explanation(Problem::ranks_apart) ==
        "rank 2 begins 70.000 s after rank 0; trace-merge --offset 2=-70000000000ns lets them "
        "begin together");
}

TEST_CASE("collective_clock: ranks without a collective in common are told") {
  Job job{{0, 0, 0}};
  job.of_one_group = false;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[1].problems.explanation(Problem::no_common_collective) ==
        "clock of rank 1 against rank 0: they have no collective in common");
  CHECK_FALSE(result.clocks[1].error_ns.has_value());
}

TEST_CASE("collective_clock: ranks without a common collective are a notice in one run only") {
  CHECK(describe(Problem::no_common_collective).severity == Severity::notice);
  CHECK(describe(Problem::vague_collectives).severity == Severity::info);
  Job job{{0, 0, 0}};
  job.of_one_group = false;
  job.of_one_run = false;
  const auto told = [&job](Problem problem) {
    return job.plan().clocks[1].problems.count(problem);
  };
  CHECK(told(Problem::no_common_collective) == 0);
  CHECK(told(Problem::vague_collectives) == 1);
  job.world_size = 3;
  CHECK(told(Problem::no_common_collective) == 1);
  CHECK(told(Problem::vague_collectives) == 0);
  job.sync_bound_us = 20;  // a clock sync places them
  CHECK(told(Problem::no_common_collective) == 0);
  CHECK(told(Problem::vague_collectives) == 1);
}

TEST_CASE("collective_clock: ranks at other times without a collective in common are told") {
  Job job{{0, 0, 3'600'000'000}};
  job.of_one_group = false;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.explanation(Problem::ranks_apart) ==
        "rank 2 begins 3,600.000 s after rank 0; trace-merge --offset 2=-3600000000000ns lets them "
        "begin "
        "together");
  CHECK(result.clocks[1].problems.count(Problem::ranks_apart) == 0);
}

TEST_CASE("collective_clock: ranks of a host that are apart from the others are told together") {
  Job job{{0, 0, 90'000'000, 90'000'000}};
  job.of_one_group = false;
  const ClockPlan result = job.plan();
  CHECK(result.clocks[2].problems.count(Problem::ranks_apart) == 2);
  CHECK(result.clocks[2].problems.explanation(Problem::ranks_apart) ==
        "ranks 2-3 begin 90.000 s after rank 0; trace-merge --offset 2=-90000000000ns --offset "
        "3=-90000000000ns lets them begin together");
  CHECK(result.clocks[1].problems.count(Problem::ranks_apart) == 0);
  CHECK(result.clocks[3].problems.count(Problem::ranks_apart) == 0);
}

TEST_CASE("collective_clock: traces of different runs may be at other times") {
  Job job{{0, 0, 3'600'000'000}};
  job.of_one_run = false;
  CHECK(job.plan().clocks[2].problems.count(Problem::ranks_apart) == 0);
  job.world_size = 1;
  CHECK(job.plan().clocks[2].problems.count(Problem::ranks_apart) == 0);
  job.world_size = 3;
  CHECK(job.plan().clocks[2].problems.count(Problem::ranks_apart) == 1);
}

TEST_CASE("collective_clock: with linear drift durations follow the clock") {
  Job job{{0, 0, 5'000}};
  for (const DriftMode mode : {DriftMode::constant, DriftMode::linear}) {
    job.options.drift = mode;
    const ClockPlan result = job.plan();
    CHECK(result.clocks[2].method == ClockMethod::collectives);
    CHECK_FALSE(result.clocks[2].times.has_drift());  // its clock does not
  }
}

namespace {

// A file of a rank in a cycle of 40 all-reduces, with a clock that is so far ahead.
struct CycleFile {
  std::size_t rank;
  int cycle;
  std::int64_t ahead_us;
  bool has_collectives = true;
};

// Files are named by cycle, or by a time, as torch does it. Truth is where all begin at kBaseNs.
ClockPlan plan_of(const std::vector<CycleFile>& all, bool has_names = true) {
  std::size_t ranks = 0;
  for (const CycleFile& file : all) ranks = std::max(ranks, file.rank + 1);
  ReadInputs inputs;
  for (const CycleFile& file : all) {
    Job job{std::vector<std::int64_t>(ranks, file.ahead_us)};
    job.first_round = 1'000 * file.cycle;
    job.rounds = job.first_round + 40;
    StartTimes starts;
    const std::string gemm = kernel(1'000'000 * file.cycle + file.ahead_us, 50, "", "gemm");
    FileEvidence evidence = collectives_of(
        gemm + (file.has_collectives ? job.text_of(file.rank) : std::string()), &starts);
    evidence.base_ns = kBaseNs;
    inputs.add({has_names ? fmt::format("ep0-ba{}-rank{}.json", file.cycle, file.rank)
                          : fmt::format("rank{}.17{}.pt.trace.json", file.rank, file.cycle),
                std::nullopt},
               evidence, starts);
  }
  return plan_clocks(inputs.all(), assign_ranks(inputs.all()), {});
}

void check_placed(const std::vector<CycleFile>& all, const ClockPlan& plan) {
  REQUIRE(plan.clocks.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].rank);
    CAPTURE(all[i].cycle);
    const std::int64_t ahead_ns = 1'000 * all[i].ahead_us;
    CHECK(plan.clocks[i].times.mapped_or_same(ahead_ns) == kBaseNs);
    CHECK(plan.clocks[i].offset_ns == kBaseNs - ahead_ns);
  }
}

constexpr std::int64_t k3s = 3'000'000;
constexpr std::int64_t k5s = 5'000'000;

}  // namespace

TEST_CASE("collective_clock: each cycle of a rank is moved once, by its own collectives or along") {
  const std::vector<CycleFile> lists[] = {
      {{0, 0, 0},
       {1, 0, k3s},
       {2, 0, k5s},
       {0, 1, 0},
       {1, 1, k3s},
       {2, 1, k5s},
       {1, 2, k3s, false}},
      // The second cycle of rank 1 is the reference of the others.
      {{0, 0, 0}, {1, 0, k3s}, {2, 0, k5s}, {1, 1, k3s}, {2, 1, k5s}, {2, 2, k5s, false}},
      // Rank 1 is known by its second cycle alone, in which ranks 2 and 3 are bridges.
      {{0, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1, 1, k3s}, {2, 1, 0}, {3, 1, 0}},
      // The clock of rank 1 is set between the cycles, to another lead or to the right time, and
      // what has no collectives is as the nearest that has some.
      {{0, 0, 0}, {1, 0, k3s}, {0, 1, 0}, {1, 1, k5s}, {1, 2, k5s, false}},
      {{0, 0, 0, false}, {1, 0, 0, false}, {0, 1, 0}, {1, 1, 0}, {0, 2, 0}, {1, 2, k3s}}};
  for (const std::vector<CycleFile>& files : lists)
    for (const bool has_names : {true, false}) {
      CAPTURE(has_names);
      check_placed(files, plan_of(files, has_names));
    }
}

TEST_CASE(
    "collective_clock: each shift of a rank's cycles is told, and what came along is not sure") {
  const ClockPlan set = plan_of({{0, 0, 0}, {1, 0, k3s}, {0, 1, 0}, {1, 1, k5s}});
  CHECK(set.clocks[1]
            .problems.explanation(Problem::shifted_clock)
            .starts_with("rank 1 shifted by -3.000 s"));
  CHECK(set.clocks[3]
            .problems.explanation(Problem::shifted_clock)
            .starts_with("rank 1 shifted by -5.000 s"));
  CHECK(set.clocks[3].collectives->shift_ns == -1'000 * k5s);
  const ClockPlan along = plan_of({{0, 0, 0}, {1, 0, k3s}, {2, 0, 0}, {1, 1, k3s}, {2, 1, 0}});
  for (const std::size_t file : {3U, 4U}) {
    CAPTURE(file);
    CHECK(*along.clocks[file].error_ns > 0);
  }
  CHECK(along.clocks[3].collectives->is_used);
  CHECK(along.clocks[3].collectives->shift_ns == -1'000 * k3s);
}
