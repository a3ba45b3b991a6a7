#include "clock/alignment.h"

#include "clock/clock_files.h"

#include <doctest/doctest.h>

#include <random>

using namespace traceloom;
using ClockMethod::base;
using ClockMethod::epoch;
using ClockMethod::merged;
using ClockMethod::none;
using ClockMethod::sync_of_rank;

TEST_CASE("alignment: names its methods") {
  CHECK(to_string(ClockMethod::sync) == "sync");
  CHECK(to_string(sync_of_rank) == "sync_of_rank");
  CHECK(to_string(base) == "base");
  CHECK(to_string(epoch) == "epoch");
  CHECK(to_string(merged) == "merged");
  CHECK(to_string(none) == "none");
}

TEST_CASE("alignment: nothing in, nothing out") {
  CHECK(align({}).empty());
}

TEST_CASE("alignment: the reference is the lowest rank that has a sync") {
  CHECK(offsets({synced(5, 900), synced(2, 400), synced(7, 100)}) == Ns{-500'000, 0, 300'000});
  // Rank 0 has none: it is left out of the choice.
  const std::vector<ClockFacts> files{based(0, kNowNs, 5), synced(1, kNowUs + 7),
                                      synced(2, kNowUs)};
  CHECK(offsets(files) == Ns{kNowNs, 0, 7'000});
  CHECK(methods(files) == Methods{base, ClockMethod::sync, ClockMethod::sync});
  CHECK(counts(files, Problem::no_clock) == Counts{1, 0, 0});
}

TEST_CASE("alignment: a base is added to the shift") {
  ClockFacts first = synced(0, kNowUs);
  first.base_ns = kNowNs - 1;
  ClockFacts second = synced(1, kNowUs + 4);
  second.base_ns = kNowNs + 10;
  CHECK(offsets({first, second}) == Ns{kNowNs - 1, kNowNs + 10 - 4'000});
}

TEST_CASE("alignment: a file without a sync goes by the nearest one of its rank") {
  std::vector<ClockFacts> files{synced(0, kNowUs, "a"), synced(0, kNowUs + 1000, "b"),
                                synced(1, kNowUs + 10, "a", 5), synced(1, kNowUs + 1030, "b", 6)};
  const std::int64_t base_ns = kNowNs - 50;
  SUBCASE("before the middle") {
    files.push_back(based(1, base_ns, 50 + 519'999));
    CHECK(offsets(files).back() == base_ns - 10'000);
    CHECK(align(files).back().error_ns == 6'000);
  }
  SUBCASE("in the middle: the earlier one") {
    files.push_back(based(1, base_ns, 50 + 520'000));
    CHECK(offsets(files).back() == base_ns - 10'000);
  }
  SUBCASE("behind the middle") {
    files.push_back(based(1, base_ns, 50 + 520'001));
    CHECK(offsets(files).back() == base_ns - 30'000);
    CHECK(align(files).back().error_ns == 7'000);
  }
  SUBCASE("before and behind all of them") {
    files.push_back({.rank = 1, .first_ns = kNowNs - 5'000'000});
    CHECK(offsets(files).back() == -10'000);
    files.back().first_ns = kNowNs + 5'000'000;
    CHECK(offsets(files).back() == -30'000);
  }
  SUBCASE("of the same cycle, whatever its time") {
    files.push_back({.rank = 1, .first_ns = kNowNs, .cycle = "b"});
    CHECK(offsets(files).back() == -30'000);
  }
  SUBCASE("the first one when it has no event") {
    files.push_back({.rank = 1, .base_ns = base_ns});
    CHECK(offsets(files).back() == base_ns - 10'000);
  }
  SUBCASE("unshifted on the reference") {
    files.push_back(based(0, base_ns, 50));
    CHECK(offsets(files).back() == base_ns);
  }
  CHECK(methods(files).back() == sync_of_rank);
  CHECK(counts(files, Problem::no_clock).back() == 0);
}

TEST_CASE("alignment: a sync of Unix time says nothing of a file that counts from elsewhere") {
  const std::vector<ClockFacts> files{
      synced(0, kNowUs), synced(1, kNowUs + 30), {.rank = 1, .first_ns = 3'000'000}};
  CHECK(methods(files) == Methods{ClockMethod::sync, ClockMethod::sync, none});
  CHECK(offsets(files) == Ns{0, -30'000, 0});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 1});
  CHECK(align(files)[2].problems.explanation(Problem::no_clock) == "rank 1");
}

TEST_CASE("alignment: by what the files show, where the sync itself is of another clock") {
  ClockFacts first = synced(1, kNowUs + 30);
  first.first_ns = 1'000'000;
  const std::vector<ClockFacts> files{synced(0, kNowUs), first, {.rank = 1, .first_ns = 3'000'000}};
  CHECK(methods(files).back() == sync_of_rank);
  CHECK(offsets(files).back() == -30'000);
}

TEST_CASE("alignment: syncs of a relative clock are compared with relative time") {
  CHECK(offsets({synced(0, 100),
                 synced(0, 900),
                 synced(1, 110),
                 synced(1, 930),
                 {.rank = 1, .first_ns = 800'000}})
            .back() == -30'000);
}

TEST_CASE("alignment: without syncs a base or Unix ts will do") {
  const std::vector<ClockFacts> files{based(0, 1'700'000'000'000'000'000, 5),
                                      based(1, 1'700'000'001'000'000'000, 5),
                                      {.rank = 2, .first_ns = kNowNs},
                                      {.rank = 3, .first_ns = 100'000'000'000'000'000}};
  CHECK(offsets(files) == Ns{1'700'000'000'000'000'000, 1'700'000'001'000'000'000, 0, 0});
  CHECK(methods(files) == Methods{base, base, epoch, epoch});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0, 0});
  for (const FileClock& clock : align(files)) CHECK_FALSE(clock.error_ns.has_value());
}

TEST_CASE("alignment: a file that nothing is known of stays as it is") {
  const ClockFacts relative{.rank = 1, .first_ns = 99'999'999'999'999'999};
  SUBCASE("without a word when it is so with all of them") {
    const std::vector<ClockFacts> files{relative, {.rank = 2}, {.rank = 3, .first_ns = -4}};
    CHECK(offsets(files) == Ns{0, 0, 0});
    CHECK(methods(files) == Methods{none, none, none});
    CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0});
  }
  SUBCASE("counted when another one has a base, Unix ts or a sync") {
    CHECK(counts({relative, based(0, kNowNs, 1)}, Problem::no_clock) == Counts{1, 0});
    CHECK(counts({relative, {.rank = 2, .first_ns = kNowNs}}, Problem::no_clock) == Counts{1, 0});
    CHECK(counts({relative, synced(2, 5)}, Problem::no_clock) == Counts{1, 0});
  }
}

TEST_CASE("alignment: a rank without a sync is counted where others have one") {
  const std::vector<ClockFacts> files{synced(0, kNowUs),
                                      synced(1, kNowUs + 1),
                                      based(2, kNowNs, 7),
                                      {.rank = 3, .first_ns = kNowNs}};
  CHECK(methods(files) == Methods{ClockMethod::sync, ClockMethod::sync, base, epoch});
  CHECK(offsets(files) == Ns{0, -1'000, kNowNs, 0});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 1, 1});
}

TEST_CASE("alignment: a merged file goes by the sync that it has, and else keeps its base") {
  ClockFacts with_sync = synced(0, 5'000'000, "", 1);
  with_sync.is_merged = true;
  const std::vector<ClockFacts> files{
      with_sync, synced(1, 10), synced(2, 30), {.rank = 0, .base_ns = 77, .is_merged = true}};
  CHECK(methods(files) == Methods{ClockMethod::sync, ClockMethod::sync, ClockMethod::sync, merged});
  CHECK(offsets(files) == Ns{0, 4'999'990'000, 4'999'970'000, 77});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0, 1});
  CHECK(align(files)[1].error_ns == 2'000);
}

TEST_CASE("alignment: a sync that no clock shows is taken for missing") {
  for (const std::int64_t wild : {kMax, kMin, kMax / 1000, (std::int64_t{1} << 62) / 1000 + 1,
                                  -(std::int64_t{1} << 62) / 1000 - 1, kMin / 1000}) {
    CAPTURE(wild);
    const std::vector<ClockFacts> files{synced(0, wild), synced(1, 1000), synced(2, 3000)};
    CHECK(offsets(files) == Ns{0, 0, -2'000'000});
    CHECK(methods(files) == Methods{none, ClockMethod::sync, ClockMethod::sync});
    CHECK(counts(files, Problem::bad_sync) == Counts{1, 0, 0});
    CHECK(counts(files, Problem::no_clock) == Counts{1, 0, 0});
  }
  SUBCASE("the file then goes by the other syncs of its rank") {
    const std::vector<ClockFacts> files{synced(0, 1000), synced(1, kMax), synced(1, 4000)};
    CHECK(methods(files) == Methods{ClockMethod::sync, sync_of_rank, ClockMethod::sync});
    CHECK(offsets(files) == Ns{0, -3'000'000, -3'000'000});
    CHECK(counts(files, Problem::bad_sync) == Counts{0, 1, 0});
  }
}

TEST_CASE("alignment: a sync that does not fit together with the base is taken for missing") {
  ClockFacts file = synced(1, 1);
  file.base_ns = kMax;
  const std::vector<ClockFacts> files{synced(0, 1000), file};
  CHECK(methods(files) == Methods{ClockMethod::sync, base});
  CHECK(offsets(files) == Ns{0, kMax});
  CHECK(counts(files, Problem::bad_sync) == Counts{0, 1});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 1});
}

TEST_CASE("alignment: a new cycle that the shift carries out of range is taken for missing") {
  const std::int64_t far_us = (std::int64_t{1} << 62) / 1000;
  const std::vector<ClockFacts> files{synced(0, far_us, "a"), synced(1, 0, "a"),
                                      synced(1, far_us, "b")};
  CHECK(counts(files, Problem::bad_sync) == Counts{0, 0, 1});
  CHECK(methods(files) == Methods{ClockMethod::sync, ClockMethod::sync, sync_of_rank});
  CHECK(offsets(files) == Ns{0, far_us * 1000, far_us * 1000});
}

TEST_CASE("alignment: takes whatever files say") {
  std::mt19937_64 random(20260101);
  const auto wild = [&]() -> std::optional<std::int64_t> {
    switch (random() % 6) {
      case 0:
        return std::nullopt;
      case 1:
        return static_cast<std::int64_t>(random());
      case 2:
        return random() % 2 == 0 ? kMax : kMin;
      case 3:
        return static_cast<std::int64_t>(random() % 2000) - 1000;
      default:
        return kNowUs + static_cast<std::int64_t>(random() % 1'000'000);
    }
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<ClockFacts> files(1 + random() % 8);
    for (ClockFacts& file : files) {
      file.rank = static_cast<std::int64_t>(random() % 3);
      file.base_ns = wild();
      file.sync_us = wild();
      file.error_bound_us = wild();
      file.first_ns = wild();
      file.cycle = std::string(random() % 3, 'a');
      file.is_merged = random() % 8 == 0;
    }
    const std::vector<FileClock> clocks = align(files);
    REQUIRE(clocks.size() == files.size());
    std::int64_t reference = kMax;
    for (std::size_t i = 0; i < files.size(); ++i)
      if (clocks[i].method == ClockMethod::sync) reference = std::min(reference, files[i].rank);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::int64_t base_ns = files[i].base_ns.value_or(0);
      if (clocks[i].method == ClockMethod::sync && files[i].rank == reference)
        CHECK(clocks[i].offset_ns == base_ns);
      if (clocks[i].method != ClockMethod::sync && clocks[i].method != sync_of_rank)
        CHECK(clocks[i].offset_ns == base_ns);
      if (files[i].is_merged)
        CHECK((clocks[i].method == merged || clocks[i].method == ClockMethod::sync));
      CHECK(clocks[i].problems.count(Problem::bad_sync) <= 2);
    }
  }
}

TEST_CASE("alignment: an offset that is given takes the place of a rank's syncs") {
  const std::vector<ClockFacts> files{{.rank = 0, .sync_us = 1000},
                                      {.rank = 1, .sync_us = 4000},
                                      {.rank = 1, .base_ns = 7'000, .sync_us = 9000}};
  ClockOptions options;
  options.offsets[1] = -250;
  const std::vector<FileClock> clocks = align(files, options);
  CHECK(clocks[0].method == ClockMethod::sync);
  CHECK(clocks[0].offset_ns == 0);
  CHECK(clocks[1].method == ClockMethod::given);
  CHECK(clocks[1].offset_ns == -250);
  CHECK(clocks[2].method == ClockMethod::given);
  CHECK(clocks[2].offset_ns == 6'750);
  CHECK_FALSE(clocks[2].error_ns);
}

TEST_CASE("alignment: an offset given to the reference makes another rank the reference") {
  ClockOptions options;
  options.offsets[0] = 0;
  const std::vector<FileClock> clocks = align(
      {{.rank = 0, .sync_us = 1000}, {.rank = 1, .sync_us = 4000}, {.rank = 2, .sync_us = 4500}},
      options);
  CHECK(clocks[0].offset_ns == 0);
  CHECK(clocks[1].offset_ns == 0);
  CHECK(clocks[2].offset_ns == -500'000);
}

TEST_CASE("alignment: only the evidence that is asked for is used") {
  const std::vector<ClockFacts> files{{.rank = 0, .base_ns = 100, .sync_us = 1000},
                                      {.rank = 1, .base_ns = 300, .sync_us = 4000},
                                      {.rank = 2, .base_ns = 500}};
  const auto methods = [&](AlignBy by) {
    std::string words;
    for (const FileClock& clock : align(files, {.align_by = by}))
      words += std::string(to_string(clock.method)) + " " + std::to_string(clock.offset_ns) + " ";
    return words;
  };
  CHECK(methods(AlignBy::any) == "sync 100 sync -2999700 base 500 ");
  CHECK(methods(AlignBy::sync) == "sync 100 sync -2999700 none 500 ");
  CHECK(methods(AlignBy::base) == "base 100 base 300 base 500 ");
  CHECK(methods(AlignBy::none) == "none 0 none 0 none 0 ");
}
