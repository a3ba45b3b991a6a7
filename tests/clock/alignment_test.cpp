#include "clock/alignment.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace traceloom;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
// A Unix time in 2026, in ns and us.
constexpr std::int64_t kNowNs = 1'795'202'969'000'000'000;
constexpr std::int64_t kNowUs = kNowNs / 1000;

std::vector<std::int64_t> offsets(const std::vector<ClockFacts>& files) {
  std::vector<std::int64_t> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.offset_ns);
  return result;
}

std::vector<ClockMethod> methods(const std::vector<ClockFacts>& files) {
  std::vector<ClockMethod> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.method);
  return result;
}

std::vector<std::uint64_t> counts(const std::vector<ClockFacts>& files, Problem problem) {
  std::vector<std::uint64_t> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.problems.count(problem));
  return result;
}

// A Composer file: ts is Unix time, no base.
ClockFacts synced(std::int64_t rank, std::int64_t sync_us, const std::string& cycle = "",
                  std::optional<std::int64_t> bound_us = std::nullopt) {
  return {.rank = rank, .sync_us = sync_us, .error_bound_us = bound_us, .cycle = cycle};
}

// A torch file: ts 0 is at base_ns.
ClockFacts based(std::int64_t rank, std::int64_t base_ns, std::optional<std::int64_t> first_ns) {
  return {.rank = rank, .base_ns = base_ns, .first_ns = first_ns};
}

using Ns = std::vector<std::int64_t>;
using Counts = std::vector<std::uint64_t>;
using enum ClockMethod;
using Methods = std::vector<ClockMethod>;

}  // namespace

TEST_CASE("alignment: names its methods") {
  CHECK(to_string(sync) == "sync");
  CHECK(to_string(sync_of_rank) == "sync_of_rank");
  CHECK(to_string(base) == "base");
  CHECK(to_string(epoch) == "epoch");
  CHECK(to_string(merged) == "merged");
  CHECK(to_string(none) == "none");
}

TEST_CASE("alignment: nothing in, nothing out") {
  CHECK(align({}).empty());
  CHECK(common_origin_ns({}, {}) == 0);
}

TEST_CASE("alignment: shifts each rank to the lowest by its sync") {
  // The files and shifts of a real run whose ranks were given clocks 1.5 s, 0.7 s and 37 ms apart.
  const std::vector<ClockFacts> files{
      synced(0, 1795202969712922, "ep0-ba8", 2208), synced(1, 1795202971212811, "ep0-ba8", 4286),
      synced(2, 1795202969012786, "ep0-ba8", 5024), synced(3, 1795202969750062, "ep0-ba8", 6085)};
  CHECK(offsets(files) == Ns{0, -1'499'889'000, 700'136'000, -37'140'000});
  CHECK(methods(files) == Methods{sync, sync, sync, sync});
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

TEST_CASE("alignment: the reference is the lowest rank that has a sync") {
  CHECK(offsets({synced(5, 900), synced(2, 400), synced(7, 100)}) == Ns{-500'000, 0, 300'000});
  // Rank 0 has none: it is left out of the choice.
  const std::vector<ClockFacts> files{based(0, kNowNs, 5), synced(1, kNowUs + 7),
                                      synced(2, kNowUs)};
  CHECK(offsets(files) == Ns{kNowNs, 0, 7'000});
  CHECK(methods(files) == Methods{base, sync, sync});
  CHECK(counts(files, Problem::no_clock) == Counts{1, 0, 0});
}

TEST_CASE("alignment: a base is added to the shift") {
  ClockFacts first = synced(0, kNowUs);
  first.base_ns = kNowNs - 1;
  ClockFacts second = synced(1, kNowUs + 4);
  second.base_ns = kNowNs + 10;
  CHECK(offsets({first, second}) == Ns{kNowNs - 1, kNowNs + 10 - 4'000});
}

TEST_CASE("alignment: two files of one rank may have the same cycle") {
  // Two runs in two folders: the n-th of a name belongs to the n-th of the same name.
  CHECK(offsets({synced(0, 1000, "ep0-ba4"), synced(0, 9000, "ep0-ba4"), synced(1, 9100, "ep0-ba4"),
                 synced(1, 1050, "ep0-ba4")}) == Ns{0, 0, -100'000, -50'000});
  // Two recorders of one cycle.
  CHECK(offsets({synced(0, 1000, "ep0-ba4"), synced(1, 1030, "ep0-ba4"),
                 synced(1, 1030, "ep0-ba4")}) == Ns{0, -30'000, -30'000});
}

TEST_CASE("alignment: a missing cycle does not move the others") {
  // Rank 1 lacks the first cycle, rank 2 the second.
  CHECK(offsets({synced(0, 1000, "a"), synced(0, 5000, "b"), synced(0, 9000, "c"),
                 synced(1, 5010, "b"), synced(1, 9030, "c"),  //
                 synced(2, 1200, "a"), synced(2, 9300, "c")}) ==
        Ns{0, 0, 0, -10'000, -30'000, -200'000, -300'000});
}

TEST_CASE("alignment: a cycle that the reference lacks goes by the nearest one of its rank") {
  // Rank 1's shift in cycle b is -10 us; c is 100 us behind b there. Rank 2 is brought to rank 1.
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
  SUBCASE("the first one when its time is on another clock") {
    files.push_back({.rank = 1, .first_ns = 3'000'000});
    CHECK(offsets(files).back() == -10'000);
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
  CHECK(methods(files) == Methods{sync, sync, base, epoch});
  CHECK(offsets(files) == Ns{0, -1'000, kNowNs, 0});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 1, 1});
}

TEST_CASE("alignment: a merged file keeps its base and has no part in the syncs") {
  ClockFacts with_sync = synced(0, 5'000'000, "", 1);
  with_sync.is_merged = true;
  const std::vector<ClockFacts> files{
      with_sync, synced(1, 10), synced(2, 30), {.rank = 0, .base_ns = 77, .is_merged = true}};
  CHECK(methods(files) == Methods{merged, sync, sync, merged});
  CHECK(offsets(files) == Ns{0, 0, -20'000, 77});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 0, 0, 0});
  CHECK_FALSE(align(files)[1].error_ns.has_value());
}

TEST_CASE("alignment: a sync that no clock shows is taken for missing") {
  for (const std::int64_t wild :
       {kMax, kMin, kMax / 1000, (std::int64_t{1} << 62) / 1000 + 1, kMin / 1000}) {
    CAPTURE(wild);
    const std::vector<ClockFacts> files{synced(0, wild), synced(1, 1000), synced(2, 3000)};
    CHECK(offsets(files) == Ns{0, 0, -2'000'000});
    CHECK(methods(files) == Methods{none, sync, sync});
    CHECK(counts(files, Problem::bad_sync) == Counts{1, 0, 0});
    CHECK(counts(files, Problem::no_clock) == Counts{1, 0, 0});
  }
  SUBCASE("the file then goes by the other syncs of its rank") {
    const std::vector<ClockFacts> files{synced(0, 1000), synced(1, kMax), synced(1, 4000)};
    CHECK(methods(files) == Methods{sync, sync_of_rank, sync});
    CHECK(offsets(files) == Ns{0, -3'000'000, -3'000'000});
    CHECK(counts(files, Problem::bad_sync) == Counts{0, 1, 0});
  }
}

TEST_CASE("alignment: a sync that does not fit together with the base is taken for missing") {
  ClockFacts file = synced(1, 1);
  file.base_ns = kMax;
  const std::vector<ClockFacts> files{synced(0, 1000), file};
  CHECK(methods(files) == Methods{sync, base});
  CHECK(offsets(files) == Ns{0, kMax});
  CHECK(counts(files, Problem::bad_sync) == Counts{0, 1});
  CHECK(counts(files, Problem::no_clock) == Counts{0, 1});
}

TEST_CASE("alignment: a new cycle that the shift carries out of range is taken for missing") {
  const std::int64_t far_us = (std::int64_t{1} << 62) / 1000;
  const std::vector<ClockFacts> files{synced(0, far_us, "a"), synced(1, 0, "a"),
                                      synced(1, far_us, "b")};
  CHECK(counts(files, Problem::bad_sync) == Counts{0, 0, 1});
  CHECK(methods(files) == Methods{sync, sync, sync_of_rank});
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
    CHECK(common_origin_ns(files, clocks) % 1000 == 0);
    std::int64_t reference = kMax;
    for (std::size_t i = 0; i < files.size(); ++i)
      if (clocks[i].method == sync) reference = std::min(reference, files[i].rank);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::int64_t base_ns = files[i].base_ns.value_or(0);
      if (clocks[i].method == sync && files[i].rank == reference)
        CHECK(clocks[i].offset_ns == base_ns);
      if (clocks[i].method != sync && clocks[i].method != sync_of_rank)
        CHECK(clocks[i].offset_ns == base_ns);
      if (files[i].is_merged) CHECK(clocks[i].method == merged);
      CHECK(clocks[i].problems.count(Problem::bad_sync) <= 2);
    }
  }
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
    // A rank that shares no cycle with those before it cannot be told from one with other names.
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

TEST_CASE("common_origin: the earliest corrected start, floored to a microsecond") {
  const std::vector<ClockFacts> files{
      based(0, 1'000'000, 2'999), based(1, 0, 1'003'500), {.rank = 2, .base_ns = -5'000'000'000}};
  CHECK(common_origin_ns(files, align(files)) == 1'002'000);
  const std::vector<ClockFacts> negative{based(0, 0, -1), based(1, 0, 5)};
  CHECK(common_origin_ns(negative, align(negative)) == -1'000);
  const std::vector<ClockFacts> even{based(0, 0, -2'000)};
  CHECK(common_origin_ns(even, align(even)) == -2'000);
}

TEST_CASE("common_origin: leaves out what does not fit") {
  const std::vector<ClockFacts> files{based(0, kMin, -1), based(1, kMax, 1), based(2, 5'000, 1)};
  CHECK(common_origin_ns(files, align(files)) == 5'000);
  const std::vector<ClockFacts> lowest{based(0, kMin, 0)};
  CHECK(common_origin_ns(lowest, align(lowest)) == kMin / 1000 * 1000);
}

TEST_CASE("common_origin: is 0 without any event") {
  const std::vector<ClockFacts> files{{.rank = 0, .base_ns = kNowNs}, {.rank = 1}};
  CHECK(common_origin_ns(files, align(files)) == 0);
}
