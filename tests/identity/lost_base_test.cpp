#include "identity/clocks/clock_plan.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// 227 units, and a moment 4 346 000 s later.
constexpr std::int64_t kBase = 1'790'857'026 * kSecond;
constexpr std::int64_t kRelative = 4'346'000 * kSecond;
constexpr std::int64_t kNow = kBase + kRelative;

struct UndatedFile {
  std::int64_t rank = 0;
  FileEvidence evidence = {};
  StartTimes starts = {};

  UndatedFile& at(std::int64_t ns) {
    starts.add(ns);
    return *this;
  }
};

UndatedFile composer_at(std::int64_t sync_us = 0) {
  UndatedFile file;
  file.evidence.rank_marks.add({0, "0", 5});
  if (sync_us != 0) file.evidence.syncs.add({sync_us, "0", 9});
  return file;
}

UndatedFile torch() {
  UndatedFile file;
  file.evidence.is_torch = true;
  return file;
}

std::vector<std::string> found(const std::vector<UndatedFile>& files) {
  ReadInputs inputs;
  std::vector<FileRank> ranks;
  for (const UndatedFile& file : files) {
    inputs.add({"x.json", std::nullopt}, file.evidence, file.starts);
    ranks.emplace_back().rank = file.rank;
  }
  std::vector<std::string> words;
  for (const std::optional<LostBase>& base : find_lost_bases(inputs.all(), ranks)) {
    if (!base)
      words.emplace_back("-");
    else if (base->by == LostBase::By::guess)
      words.push_back("guess " + std::to_string(base->base_ns));
    else
      words.push_back(to_string(*base));
  }
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("lost_base: the Unix times of the same file tell it") {
  static_assert(kBase == 227 * kTorchBaseUnitNs);
  const std::string wanted = "1790857026 s (227 x 7889238 s), by the Unix times of the same file";
  CHECK(found({composer_at().at(kRelative).at(kNow)}) == Words{wanted});
  SUBCASE("within an hour, and not further off") {
    CHECK(found({composer_at().at(kRelative - 3599 * kSecond).at(kNow)}) == Words{wanted});
    CHECK(found({composer_at().at(kRelative + 3599 * kSecond).at(kNow)}) == Words{wanted});
    CHECK(found({composer_at().at(kRelative + 3601 * kSecond).at(kNow)}) ==
          Words{"guess " + std::to_string(kNow - kRelative - 3601 * kSecond)});
  }
  SUBCASE("however long the cycle") {
    CHECK(found({composer_at()
                     .at(kRelative)
                     .at(kRelative + 90'000 * kSecond)
                     .at(kNow + 10 * kSecond)
                     .at(kNow + 89'000 * kSecond)}) == Words{wanted});
  }
  SUBCASE("a stray 0 among the relative times") {
    CHECK(found({composer_at().at(0).at(kRelative).at(kNow)}) == Words{wanted});
  }
  SUBCASE("the process started in the unit before, and has run for as long as that since") {
    for (const std::int64_t since : {20 * kSecond, 60 * 86'400 * kSecond}) {
      CHECK(found({composer_at().at(kTorchBaseUnitNs + since).at(kBase + since)}) ==
            Words{"1782967788 s (226 x 7889238 s), by the Unix times of the same file"});
    }
    const std::int64_t late = 2 * kTorchBaseUnitNs + kSecond;
    CHECK(found({composer_at().at(late).at(kBase - kTorchBaseUnitNs + late)}) ==
          Words{"guess " + std::to_string(kBase - kTorchBaseUnitNs)});
  }
}

TEST_CASE(
    "lost_base: times that fit no base are put at the clock sync, or at the first Unix time") {
  const std::int64_t sync_us = kNow / 1000 + 40;
  CHECK(found({composer_at(sync_us).at(7000).at(kNow)}) ==
        Words{"guess " + std::to_string(kNow + 40'000 - 7000)});
  CHECK(found({composer_at(40).at(7000).at(kNow)}) ==
        Words{"guess " + std::to_string(kNow - 7000)});
}

TEST_CASE("lost_base: torch's own file goes by the guess for its copies in Composer's") {
  const std::int64_t sync_us = kNow / 1000 + 40;
  const std::string guess = "guess " + std::to_string(kNow + 40'000 - 7000);
  const UndatedFile composers = composer_at(sync_us).at(7000).at(9000).at(kNow);
  CHECK(found({composers, UndatedFile{}.at(7000).at(9000)}) == Words{guess, guess});
  CHECK(found({UndatedFile{}.at(9000), composers}) == Words{guess, guess});
  // A file of another clock gets no guess, and neither does a file with more evidence.
  CHECK(found({composers, UndatedFile{}.at(7000).at(9001)}) == Words{guess, "-"});
  CHECK(found({composers, UndatedFile{}.at(7000).at(8000)}) == Words{guess, "-"});
  CHECK(found({composers, UndatedFile{}.at(9000).at(kNow)}) == Words{guess, "-"});
  UndatedFile based = UndatedFile{}.at(9000);
  based.evidence.base_ns = kBase;
  CHECK(found({composers, based}) == Words{guess, "-"});
  // A file of another rank gets no guess, either.
  UndatedFile other = UndatedFile{}.at(9000);
  other.rank = 1;
  CHECK(found({composers, other}) == Words{guess, "-"});
}

TEST_CASE("lost_base: a file of relative times alone goes by its clock sync, then by other files") {
  CHECK(found({composer_at(kNow / 1000).at(kRelative)}) ==
        Words{"1790857026 s (227 x 7889238 s), by its clock sync"});
  CHECK(found({composer_at(40).at(kRelative)}) == Words{"-"});
  UndatedFile other = torch().at(kRelative - 5 * kSecond);
  other.evidence.base_ns = kBase;
  const std::string wanted = "1790857026 s (227 x 7889238 s), by the times of another file";
  CHECK(found({torch().at(kRelative), other}) == Words{wanted, "-"});
  CHECK(found({other, torch().at(kRelative)}) == Words{"-", wanted});
  CHECK(found({torch().at(kRelative), composer_at().at(kNow)}) == Words{wanted, "-"});
  SUBCASE("the other one began in the unit before") {
    UndatedFile before = torch().at(kTorchBaseUnitNs - kSecond);
    before.evidence.base_ns = kBase - kTorchBaseUnitNs;
    CHECK(found({torch().at(kSecond), before}) == Words{wanted, "-"});
  }
  SUBCASE("but only where that puts it within a day of it") {
    CHECK(found({torch().at(kRelative + 86'390 * kSecond), other}) == Words{wanted, "-"});
    CHECK(found({torch().at(kRelative + 86'400 * kSecond), other}) == Words{"-", "-"});
    CHECK(found({torch().at(5000), other}) == Words{"-", "-"});
  }
  SUBCASE("and not where nothing has a base") {
    CHECK(found({torch().at(kRelative), torch().at(kRelative)}) == Words{"-", "-"});
  }
}

TEST_CASE("lost_base: only of files of Composer and torch that lack one") {
  UndatedFile ours = composer_at().at(kRelative).at(kNow);
  ours.evidence.merged_by = "1";
  UndatedFile based = composer_at().at(kRelative).at(kNow);
  based.evidence.base_ns = kBase;
  CHECK(found({UndatedFile().at(kRelative).at(kNow), torch().at(kRelative).at(kNow), ours, based,
               composer_at().at(kNow), composer_at()}) == Words{"-", "-", "-", "-", "-", "-"});
}

TEST_CASE("lost_base: times beyond reason are left alone") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() - 1;
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(found({composer_at().at(kRelative).at(kMax)}) ==
        Words{"guess " + std::to_string(kMax - kRelative)});
  CHECK(found({composer_at().at(kMin).at(kNow)}) == Words{"-"});
  CHECK(found({composer_at().at(kTorchBaseUnitNs * 2).at(kNow)}) ==
        Words{"guess " + std::to_string(kNow - kTorchBaseUnitNs * 2)});
}
