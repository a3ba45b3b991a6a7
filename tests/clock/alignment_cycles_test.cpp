#include "clock/alignment.h"
#include "clock/clock_files.h"

#include <doctest/doctest.h>

#include <random>

using namespace traceloom;

TEST_CASE("alignment: shifts each rank to the lowest by its sync") {
  // The files and shifts of a real run whose ranks were given clocks 1.5 s, 0.7 s and 37 ms apart.
  const std::vector<ClockFacts> files{
      synced(0, 1795202969712922, "ep0-ba8", 2208), synced(1, 1795202971212811, "ep0-ba8", 4286),
      synced(2, 1795202969012786, "ep0-ba8", 5024), synced(3, 1795202969750062, "ep0-ba8", 6085)};
  CHECK(offsets(files) == Ns{0, -1'499'889'000, 700'136'000, -37'140'000});
  CHECK(methods(files) ==
        Methods{ClockMethod::sync, ClockMethod::sync, ClockMethod::sync, ClockMethod::sync});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0, 0});
  // The rank that came last to the barrier waited least: its 2208 us bound every pair.
  for (const FileClock& clock : align(files)) CHECK(clock.error_ns == 2'209'000);
}

TEST_CASE("alignment: shifts each cycle by its own sync") {
  // Drifting clocks: one sync for all cycles would be wrong by up to 2.7 ms. Natural order of a
  // folder: not the order in time.
  const std::vector<ClockFacts> files{
      synced(0, 1795202074505115, "ep0-ba12", 3899), synced(1, 1795202074755504, "ep0-ba12", 1760),
      synced(2, 1795202073254882, "ep0-ba12", 5882), synced(3, 1795202074516883, "ep0-ba12", 8172),
      synced(0, 1795202074701130, "ep0-ba17", 3649), synced(1, 1795202074951321, "ep0-ba17", 3654),
      synced(2, 1795202073450988, "ep0-ba17", 3761), synced(3, 1795202074712576, "ep0-ba17", 1082),
      synced(0, 1795202074256866, "ep0-ba7", 4059),  synced(1, 1795202074506075, "ep0-ba7", 3580),
      synced(2, 1795202073005268, "ep0-ba7", 3377),  synced(3, 1795202074266994, "ep0-ba7", 6722)};
  const Ns expected{0, -250'389'000, 1'250'233'000, -11'768'000,
                    0, -250'191'000, 1'250'142'000, -11'446'000,
                    0, -249'209'000, 1'251'598'000, -10'128'000};
  CHECK(offsets(files) == expected);
  const std::vector<FileClock> clocks = align(files);
  for (std::size_t i = 0; i < 4; ++i) CHECK(clocks[i].error_ns == 1'761'000);
  for (std::size_t i = 4; i < 8; ++i) CHECK(clocks[i].error_ns == 1'083'000);
  for (std::size_t i = 8; i < 12; ++i) CHECK(clocks[i].error_ns == 3'378'000);

  SUBCASE("without names the order of the syncs tells the same") {
    std::vector<ClockFacts> nameless = files;
    for (ClockFacts& file : nameless) file.cycle.clear();
    CHECK(offsets(nameless) == expected);
  }
  SUBCASE("so does it where the names differ from rank to rank") {
    std::vector<ClockFacts> renamed = files;
    for (ClockFacts& file : renamed) file.cycle += "-host" + std::to_string(file.rank);
    CHECK(offsets(renamed) == expected);
  }
}

TEST_CASE("alignment: two files of one rank may have the same cycle") {
  // Two runs in two folders: the n-th of a name belongs to the n-th of the same name.
  CHECK(offsets({synced(0, 1000, "ep0-ba4"), synced(0, 9000, "ep0-ba4"), synced(1, 9100, "ep0-ba4"),
                 synced(1, 1050, "ep0-ba4")}) == Ns{0, 0, -100'000, -50'000});
  // Two recorders of one cycle.
  CHECK(offsets({synced(0, 1000, "ep0-ba4"), synced(1, 1030, "ep0-ba4"),
                 synced(1, 1030, "ep0-ba4")}) == Ns{0, -30'000, -30'000});
}

TEST_CASE("alignment: one sync may carry two names") {
  // It is the cycle of the first that is known; a cycle is one moment of a rank and not two.
  CHECK(offsets({synced(0, 1000, "a"), synced(0, 2000, "b"), synced(1, 1100, "a"),
                 synced(1, 1100, "b")}) == Ns{0, 0, -100'000, -100'000});
  CHECK(offsets({synced(0, 1000, "a"), synced(0, 1000, "b"), synced(1, 1100, "a"),
                 synced(1, 1500, "b")}) == Ns{0, 0, -100'000, -100'000});
}

TEST_CASE("alignment: files without a name are not of one cycle for that") {
  CHECK(offsets({synced(0, 1000), synced(0, 5000, "b"), synced(1, 5010, "b"), synced(1, 9000)}) ==
        Ns{0, 0, -10'000, -10'000});
}

TEST_CASE("alignment: the order of syncs is that of the moments, whichever rank brought them in") {
  // Rank 1 brings in cycle a, which was before the reference's only one.
  CHECK(offsets({synced(0, 5000, "b"), synced(1, 1010, "a"), synced(1, 5010, "b"), synced(2, 1200),
                 synced(2, 5300)}) == Ns{0, -10'000, -10'000, -200'000, -300'000});
}

TEST_CASE("alignment: a missing cycle does not move the others") {
  // Rank 1 lacks the first cycle, rank 2 the second.
  CHECK(offsets({synced(0, 1000, "a"), synced(0, 5000, "b"), synced(0, 9000, "c"),
                 synced(1, 5010, "b"), synced(1, 9030, "c"),  //
                 synced(2, 1200, "a"), synced(2, 9300, "c")}) ==
        Ns{0, 0, 0, -10'000, -30'000, -200'000, -300'000});
}

TEST_CASE("alignment: a cycle that the reference lacks goes by the nearest one of its rank") {
  // Rank 1's shift in cycle b is -10 us; there c is 100 us after b. Rank 2 is aligned to rank 1.
  const std::vector<ClockFacts> files{synced(0, 1000, "a"),    synced(0, 5000, "b"),  //
                                      synced(1, 1500, "a"),    synced(1, 5010, "b"),
                                      synced(1, 5110, "c", 8),  //
                                      synced(2, 5300, "b"),    synced(2, 5402, "c", 3)};
  CHECK(offsets(files) == Ns{0, 0, -500'000, -10'000, -10'000, -300'000, -302'000});
  const std::vector<FileClock> clocks = align(files);
  CHECK(clocks[4].error_ns == 4'000);
  CHECK(clocks[6].error_ns == 4'000);
  CHECK_FALSE(clocks[3].error_ns.has_value());

  SUBCASE("also when only the order tells") {
    CHECK(offsets({synced(0, 1000), synced(1, 1200), synced(1, 5000), synced(2, 1300),
                   synced(2, 5200)}) == Ns{0, -200'000, -200'000, -300'000, -400'000});
  }
  SUBCASE("the earlier of two that are equally far") {
    CHECK(offsets({synced(0, 100, "a"), synced(0, 320, "c"), synced(1, 110, "a"),
                   synced(1, 210, "b"), synced(1, 310, "c")}) ==
          Ns{0, 0, -10'000, -10'000, 10'000});
  }
}

TEST_CASE("alignment: cycles of other batches are other moments") {
  const std::vector<ClockFacts> apart{synced(0, kNowUs, "ep0-ba5", 50),
                                      synced(1, kNowUs + 3'600'000'000, "ep0-ba21", 60)};
  SUBCASE("without a rank that has both, their clocks are left alone, and that is told") {
    CHECK(offsets(apart) == Ns{0, 0});
    CHECK(counts(apart, Problem::no_clock) == Counts{0, 1});
    const std::vector<FileClock> clocks = align(apart);
    CHECK(clocks[1].problems.explanation(Problem::no_clock) ==
          "rank 1, whose clock sync is of cycles that the others do not have");
    CHECK(clocks[0].error_ns == 51'000);
    CHECK_FALSE(clocks[1].error_ns.has_value());
  }
  SUBCASE("ranks that have the other batch in common stay aligned to each other") {
    std::vector<ClockFacts> files = apart;
    files.push_back(synced(2, kNowUs + 3'600'000'700, "ep0-ba21"));
    CHECK(offsets(files) == Ns{0, 0, -700'000});
    CHECK(counts(files, Problem::no_clock) == Counts{0, 1, 1});
  }
  SUBCASE("a higher rank that has both brings them together") {
    std::vector<ClockFacts> files = apart;
    files.push_back(synced(2, kNowUs + 30, "ep0-ba5", 70));
    files.push_back(synced(2, kNowUs + 3'600'000'045, "ep0-ba21", 80));
    // Rank 2 is 30 us ahead of rank 0; rank 1 is 45 us slow compared with rank 2.
    CHECK(offsets(files) == Ns{0, 15'000, -30'000, -30'000});
    CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0, 0});
    CHECK(align(files)[1].error_ns == 61'000);
  }
  SUBCASE("names that are no batches may be those of hosts") {
    CHECK(offsets({synced(0, kNowUs, "host-a"), synced(1, kNowUs + 40, "host-b")}) ==
          Ns{0, -40'000});
    CHECK(offsets({synced(0, kNowUs, "ep0-ba5"), synced(1, kNowUs + 40, "ep0-ba")}) ==
          Ns{0, -40'000});
  }
  SUBCASE("a cycle found by its place in the order is known by its name to those that follow") {
    CHECK(offsets({synced(0, kNowUs), synced(0, kNowUs + 5'000), synced(1, kNowUs + 10, "ep0-ba5"),
                   synced(1, kNowUs + 5'020, "ep0-ba6"), synced(2, kNowUs + 5'300, "ep0-ba6")}) ==
          Ns{0, 0, -10'000, -20'000, -300'000});
  }
}

TEST_CASE("alignment: a cycle that a merge holds a rank in is no other cycle of that rank") {
  ClockFacts node0 = synced(0, 1000);
  node0.is_merged = true;
  node0.ranks = {0, 1};
  ClockFacts node1 = synced(2, 1200);
  node1.is_merged = true;
  node1.ranks = {2, 3};
  SUBCASE("their next files go with the next cycle") {
    CHECK(offsets({node0, node1, synced(0, 9000), synced(1, 9030), synced(2, 9300),
                   synced(3, 9400)}) == Ns{0, -200'000, 0, -30'000, -300'000, -400'000});
  }
  SUBCASE("where nobody else has the next cycle, nothing is known of its clock") {
    const std::vector<ClockFacts> files{node0, node1, synced(3, 9400)};
    CHECK(offsets(files) == Ns{0, -200'000, 0});
    CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 1});
  }
  SUBCASE("what it does not hold is found by the order") {
    CHECK(offsets({node0, synced(2, 1200), synced(2, 9300), synced(3, 1400), synced(0, 9000)}) ==
          Ns{0, -200'000, -300'000, -400'000, 0});
  }
}

TEST_CASE("alignment: the least error bound of a cycle counts, negative ones do not") {
  const std::vector<FileClock> clocks =
      align({synced(0, 1, "a", 700), synced(1, 2, "a", -5), synced(2, 3, "a"), synced(0, 4, "b"),
             synced(1, 5, "b"), synced(2, 6, "b", 0)});
  for (std::size_t i = 0; i < 3; ++i) CHECK(clocks[i].error_ns == 701'000);
  for (std::size_t i = 3; i < 6; ++i) CHECK(clocks[i].error_ns == 1'000);
}

TEST_CASE("alignment: an error bound that does not fit is unknown") {
  CHECK_FALSE(align({synced(0, 1, "", kMax)})[0].error_ns.has_value());
  CHECK_FALSE(align({synced(0, 1, "", kMax / 1000)})[0].error_ns.has_value());
  CHECK(align({synced(0, 1, "", kMax / 1000 - 1)})[0].error_ns == kMax / 1000 * 1000);
}

TEST_CASE("alignment: files of one cycle meet in one moment, whichever of them are missing") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<ClockFacts> files;
    std::vector<std::size_t> cycles;
    for (std::int64_t rank = 0; rank < 5; ++rank) {
      const auto clock_us = static_cast<std::int64_t>(random() % 200'000'000);
      for (std::size_t cycle = 0; cycle < 4; ++cycle) {
        const auto jitter_us = static_cast<std::int64_t>(random() % 1000);
        const auto start_us = kNowUs + 60'000'000 * static_cast<std::int64_t>(cycle);
        if (random() % 12 == 0) continue;
        files.push_back(synced(rank, start_us + clock_us + jitter_us, std::to_string(cycle)));
        cycles.push_back(cycle);
      }
    }
    // The test cannot tell a rank that shares no cycle with earlier ranks from a rank with other
    // names.
    if (files.size() < 17) continue;
    const std::vector<FileClock> clocks = align(files);
    std::vector<std::optional<std::int64_t>> moments(4);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::int64_t moment = *files[i].sync_us * 1000 + clocks[i].offset_ns;
      if (!moments[cycles[i]]) moments[cycles[i]] = moment;
      CHECK(moment == *moments[cycles[i]]);
    }
  }
}
