// align() with the rounds of barriers, and with files that share a machine.
#include "clock/clock_files.h"

#include <doctest/doctest.h>

#include <utility>

using namespace traceloom;
using ClockMethod::base;
using ClockMethod::epoch;
using ClockMethod::given;
using ClockMethod::none;
using ClockMethod::rounds;
using ClockMethod::same_boot;

namespace {

// Two rounds from `at_us` of a clock on; each lasts 10 us and the next one follows at once.
SyncRounds rounds_at(std::int64_t at_us) {
  const std::int64_t ns = at_us * 1000;
  return {{ns, ns + 10'000}, {ns + 10'000, ns + 20'000}};
}

// A cycle of a second; `ahead_us` at its beginning and at its end. Its one number is 500 us wrong.
ClockFacts recorded(std::int64_t rank, std::int64_t ahead_us, std::int64_t end_ahead_us,
                    std::int64_t cycle = 0) {
  const std::int64_t at_us = kNowUs + cycle * 10'000'000;
  ClockFacts file =
      synced(rank, at_us + ahead_us + (rank == 0 ? 0 : 500), "ba" + std::to_string(cycle), 5);
  file.rounds.start = rounds_at(at_us + ahead_us);
  file.rounds.end = rounds_at(at_us + 1'000'000 + end_ahead_us);
  return file;
}

ClockFacts on(std::string machine, ClockRange ahead, ClockFacts file) {
  file.machine = MachineClock{std::move(machine), ahead};
  return file;
}

std::vector<std::optional<std::int64_t>> errors(const std::vector<ClockFacts>& files,
                                                const ClockOptions& options = {}) {
  std::vector<std::optional<std::int64_t>> result;
  for (const FileClock& clock : align(files, options)) result.push_back(clock.error_ns);
  return result;
}

using Errors = std::vector<std::optional<std::int64_t>>;

}  // namespace

TEST_CASE("alignment: rounds say more than the sync that was made of them") {
  const std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'000)};
  CHECK(methods(files) == Methods{rounds, rounds});
  CHECK(offsets(files) == Ns{0, -3'000'000});
  // A round is 10 us long, and clocks may drift by 500 ppm within the 15 us to the middle.
  CHECK(errors(files) == Errors{0, 10'003});
  CHECK(to_string(rounds) == "rounds");
}

TEST_CASE("alignment: without linear drift the bound holds for both ends of the cycle") {
  const std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'100)};
  CHECK(offsets(files) == Ns{0, -3'050'000});
  CHECK(errors(files) == Errors{0, 60'003});
  CHECK(align(files)[1].drift_ppm == 99.99);
  CHECK_FALSE(align(files)[1].times.has_drift());
}

TEST_CASE("alignment: with linear drift a file has a knot at each end of its cycle") {
  const std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'100)};
  const FileClock clock = align(files, kLinear)[1];
  REQUIRE(clock.times.has_drift());
  CHECK(errors(files, kLinear) == Errors{0, 10'003});
  const std::int64_t first_ns = kNowNs + 3'000'000 + 15'000;  // the middle of the second round
  const std::int64_t last_ns = first_ns + 1'000'100'000;
  CHECK(clock.times.mapped_or_same(first_ns) == first_ns - 3'000'000);
  CHECK(clock.times.mapped_or_same(last_ns) == last_ns - 3'100'000);
  CHECK(clock.times.mapped_or_same(first_ns + 500'050'000) == first_ns + 500'050'000 - 3'050'000);
}

TEST_CASE("alignment: with linear drift the bound holds for ends that are no knots, too") {
  // The cycle is too short to show drift within it: the line ends where the second cycle begins.
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(0, 0, 0, 1), recorded(1, 0, 0),
                                recorded(1, 100, 0, 1)};
  files[1].rounds.end = rounds_at(kNowUs + 10'010'000);
  files[3].rounds.end = rounds_at(kNowUs + 10'010'103);
  const FileClock clock = align(files, kLinear)[3];
  REQUIRE(clock.times.has_drift());
  const std::int64_t end_ns = kNowNs + 10'010'000'000;
  CHECK(clock.times.mapped_or_same(end_ns) == end_ns - 100'000);
  CHECK(clock.error_ns == 13'003);
}

TEST_CASE("alignment: one group of rounds will do, the first or the last") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'100)};
  files[1].rounds.end = {};  // killed
  CHECK(offsets(files) == Ns{0, -3'000'000});
  CHECK(errors(files) == Errors{0, 10'003});
  files[1] = recorded(1, 3'000, 3'100);
  files[0].rounds.start = {};
  CHECK(offsets(files) == Ns{0, -3'100'000});
  CHECK_FALSE(align(files)[1].drift_ppm);
}

TEST_CASE("alignment: a clock that was set within its cycle is told, and the bound says how far") {
  const std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 2'003'000)};
  CHECK(counts(files, Problem::clock_step) == Counts{0, 1});
  CHECK(align(files)[1].problems.explanation(Problem::clock_step) == "2.000 s within 3.000 s");
  CHECK(offsets(files) == Ns{0, -3'000'000});
  CHECK(errors(files) == Errors{0, 2'000'010'003});
  CHECK_FALSE(align(files, kLinear)[1].times.has_drift());
}

TEST_CASE("alignment: a clock that was set back to before its cycle is told, too") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, -2'000'000)};
  for (const ClockOptions& options : {ClockOptions{}, kLinear}) {
    CHECK(align(files, options)[1].offset_ns == -3'000'000);
    CHECK(errors(files, options) == Errors{0, 2'003'010'003});
    CHECK(counts(files, Problem::clock_step) == Counts{0, 1});
  }
  CHECK(align(files)[1].problems.explanation(Problem::clock_step) == "-2.003 s within a cycle");
  // Set ahead, with a cycle before it: between the two it drifts, within the second it does not.
  files = {recorded(0, 0, 0), recorded(0, 0, 0, 1), recorded(1, 0, 0), recorded(1, 0, 50'000, 1)};
  CHECK(errors(files, kLinear) == Errors{0, 0, 10'003, 50'010'003});
}

TEST_CASE("alignment: ranks in a cycle behind those of the reference stay together") {
  // Rank 1 drifts in the first cycle; ranks 2 and 3 have one clock.
  const std::vector<ClockFacts> files{recorded(0, 0, 0),        recorded(1, 0, 100),
                                      recorded(1, 200, 200, 1), recorded(2, 0, 0),
                                      recorded(2, 0, 0, 1),     recorded(3, 0, 0, 1)};
  for (const ClockOptions& options : {ClockOptions{}, kLinear}) {
    const std::vector<FileClock> clocks = align(files, options);
    // The files use the last known offset of rank 1.
    CHECK(clocks[2].offset_ns == -100'000);
    CHECK(clocks[4].offset_ns == 100'000);
    CHECK(clocks[5].offset_ns == 100'000);
    for (const std::size_t file : {std::size_t{2}, std::size_t{4}, std::size_t{5}})
      CHECK(clocks[file].times.mapped_or_same(kNowNs + 10'500'000'000) ==
            kNowNs + 10'500'000'000 + clocks[file].offset_ns);
  }
}

TEST_CASE("alignment: rounds that nothing fits are told, and the sync is taken") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'000), recorded(2, 0, 0)};
  files[1].rounds.start.enter_ns[1] += 5'000'000;
  files[1].rounds.start.exit_ns[1] += 5'000'000;
  CHECK(methods(files) == Methods{rounds, ClockMethod::sync, rounds});
  CHECK(offsets(files) == Ns{0, -3'500'000, 0});
  CHECK(errors(files) == Errors{0, 6'000, 10'003});
  CHECK(counts(files, Problem::bad_rounds) == Counts{0, 1, 0});
  CHECK(align(files)[1].problems.explanation(Problem::bad_rounds) == "4.977 ms too far apart");
  // The sync is also used if only the rounds of the end contradict each other.
  files[1] = recorded(1, 3'000, 3'000);
  files[1].rounds.end.exit_ns[0] -= 2'000'000;
  files[1].rounds.end.enter_ns[0] -= 2'000'000;
  CHECK(methods(files) == Methods{rounds, ClockMethod::sync, rounds});
}

TEST_CASE("alignment: files without rounds, or with others than the reference, go by the sync") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), synced(1, kNowUs + 500, "ba0", 5),
                                recorded(2, 0, 0)};
  files[2].rounds.start = files[2].rounds.end = {{kNowNs}, {kNowNs}};
  CHECK(methods(files) == Methods{ClockMethod::sync, ClockMethod::sync, ClockMethod::sync});
  CHECK(offsets(files) == Ns{0, -500'000, -500'000});
  CHECK(errors(files) == Errors{6'000, 6'000, 6'000});
  CHECK(counts(files, Problem::bad_rounds) == Counts{0, 0, 0});
}

TEST_CASE(
    "alignment: each cycle goes by its own rounds, one that the reference lacks lies between") {
  std::vector<ClockFacts> files{recorded(0, 0, 0),
                                recorded(0, 0, 0, 2),
                                recorded(1, 3'000, 3'000),
                                recorded(1, 3'010, 3'010, 1),
                                recorded(1, 3'020, 3'020, 2),
                                recorded(2, -70, -70, 1)};
  // Rank 1's second cycle begins 9.0 s after the end of its first, its third 19.0 s after it: 9.475
  // of 20 us. Rank 2 is aligned through rank 1, whose error adds up.
  CHECK(offsets(files) == Ns{0, 0, -3'000'000, -3'009'475, -3'020'000, 70'525});
  CHECK(errors(files) == Errors{0, 0, 10'003, 10'003, 10'003, 20'006});
  CHECK(methods(files) == Methods(6, rounds));
}

TEST_CASE("alignment: the file that a cycle goes by says when its clock met the barriers") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'000)};
  files[1].rounds.end = {};
  CHECK(align(files)[0].rounds == files[0].rounds);
  CHECK(align(files)[1].rounds.empty());
  // The stamps of the other files do not matter: they are not placed if the reference stamped
  // nothing.
  files = {recorded(0, 0, 0), recorded(1, 3'000, 3'000)};
  files[0].rounds.end = {};
  CHECK(align(files)[0].rounds.end.empty());
  // The lowest number of a cycle alone does not make a rank the reference of all others, either.
  files = {recorded(0, 0, 0), recorded(1, 100, 100, 1), recorded(2, 0, 0), recorded(2, 0, 0, 1)};
  const std::vector<FileClock> clocks = align(files);
  CHECK(clocks[1].rounds.empty());
  CHECK(clocks[3].rounds == files[3].rounds);
  // The rounds are given on the common clock: without the base, from where the file was placed.
  files = {recorded(0, 0, 0), recorded(0, 0, 0, 2), recorded(1, 40, 40), recorded(1, 40, 40, 1),
           recorded(1, 40, 40, 2)};
  CHECK(align(files)[3].rounds == recorded(1, 0, 0, 1).rounds);
  CHECK(align(files, {.align_by = AlignBy::none})[0].rounds.empty());
  // Rounds that no merge could read again are left out.
  files = {recorded(0, 0, 0)};
  files[0].rounds.end = {{0}, {std::int64_t{1} << 62}};
  CHECK(align(files)[0].rounds.end.empty());
}

TEST_CASE("alignment: with the ranks of its machine it met them when the last one entered") {
  ClockFacts late = recorded(1, 0, 0);
  late.rounds.start.enter_ns[1] += 4'000;
  const std::vector<FileClock> clocks =
      align({on("m/1", {100, 140}, recorded(0, 0, 0)), on("m/1", {100, 140}, late)});
  // The machine is known to 40 ns, to it and back.
  SyncRounds wanted = recorded(0, 0, 0).rounds.start;
  for (std::int64_t& ns : wanted.enter_ns) ns -= 40;
  for (std::int64_t& ns : wanted.exit_ns) ns += 40;
  wanted.enter_ns[1] += 4'000;
  CHECK(clocks[0].rounds.start == wanted);
}

TEST_CASE("alignment: what shares the machine of the reference needs no sync") {
  std::vector<ClockFacts> files{
      on("m/1", {100, 140}, recorded(0, 0, 0)), on("m/1", {110, 170}, recorded(1, 0, 0)),
      on("m/1", {5'110, 5'170}, recorded(2, 5, 5)), on("m/2", {110, 170}, recorded(3, 7, 7))};
  CHECK(methods(files) == Methods{rounds, same_boot, same_boot, rounds});
  const std::vector<FileClock> clocks = align(files);
  CHECK(clocks[0].offset_ns == 0);
  CHECK(clocks[1].offset_ns == 0);
  CHECK(clocks[2].offset_ns == -5'020);
  CHECK(clocks[3].offset_ns == -7'005);  // ranks 1 and 2 say when rank 0 cannot have left
  CHECK(clocks[1].error_ns == 70);
  CHECK(clocks[2].error_ns == 50);
  CHECK(to_string(same_boot) == "same_boot");
  files.pop_back();
  CHECK(methods(files) == Methods{same_boot, same_boot, same_boot});
}

TEST_CASE("alignment: ranks of a machine are one, which narrows the bound") {
  // Rank 2 enters 9 us later and leaves as much earlier than its neighbour: it alone says nearly
  // all that the two know.
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 0, 0), recorded(2, 0, 0)};
  for (SyncRounds* group : {&files[2].rounds.start, &files[2].rounds.end}) {
    for (std::int64_t& ns : group->enter_ns) ns += 4'000;
    for (std::int64_t& ns : group->exit_ns) ns -= 4'000;
  }
  CHECK(errors(files) == Errors{0, 10'003, 6'001});
  files[1] = on("m/1", {0, 0}, files[1]);
  files[2] = on("m/1", {0, 0}, files[2]);
  CHECK(errors(files) == Errors{0, 6'001, 6'001});
}

TEST_CASE("alignment: a machine whose ranks cannot share a clock, by their rounds, is none") {
  // One id for two machines, as clones of a sandbox have.
  const std::vector<ClockFacts> files{on("m/1", {0, 0}, recorded(0, 0, 0)),
                                      on("m/1", {0, 0}, recorded(1, 3'000, 3'000))};
  CHECK(methods(files) == Methods{rounds, rounds});
  CHECK(offsets(files) == Ns{0, -3'000'000});
}

TEST_CASE("alignment: a file without a sync goes by one of its machine that has a place") {
  std::vector<ClockFacts> files{recorded(0, 0, 0),
                                on("m/1", {1'000, 1'000}, recorded(1, 3'000, 3'000)),
                                {.rank = 7, .first_ns = kNowNs}};
  CHECK(methods(files) == Methods{rounds, rounds, epoch});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 1});
  files[2] = on("m/1", {41'000, 41'000}, files[2]);
  CHECK(methods(files) == Methods{rounds, rounds, same_boot});
  CHECK(offsets(files) == Ns{0, -3'000'000, -3'040'000});
  CHECK(errors(files) == Errors{0, 10'003, 10'003});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0});
}

TEST_CASE("alignment: rounds lie on the base's clock, and --align base does without them") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'000)};
  files[1].base_ns = 17;
  CHECK(offsets(files) == Ns{0, -2'999'983});
  CHECK(align(files, {.align_by = AlignBy::base})[1].method == base);
  CHECK(align(files, {.align_by = AlignBy::none})[1].method == none);
  CHECK(align(files, {.offsets = {{1, 5}}})[1].method == given);
}

TEST_CASE(
    "alignment: how well a machine's clock is known is nothing to a rank that is alone on it") {
  std::vector<ClockFacts> files{recorded(0, 0, 0), recorded(1, 3'000, 3'000)};
  files[0] = on("m/1", {0, 1'000'000}, files[0]);
  files[1] = on("m/2", {0, 1'000'000}, files[1]);
  CHECK(offsets(files) == Ns{0, -3'000'000});
  CHECK(errors(files) == Errors{0, 10'003});
}
