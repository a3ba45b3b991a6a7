// These tests damage journals. Whatever a journal says, its recovery ends with a whole trace or
// leaves the journal as it was. The damages are seeded, and so the same every time. The sanitizers
// see what is read beyond an end.
#include "record/dead_journals.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;

class RandomDamage {
 public:
  explicit RandomDamage(unsigned seed) : random_(seed) {}

  void apply(std::string& journal) {
    for (std::size_t left = 1 + below(3); left > 0; --left) change(journal);
    if (below(20) == 0) journal.resize(below(2) == 0 ? below(journal.size()) : journal.size() + 1);
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  void change(std::string& journal) {
    static const std::vector<ToldRange> kRanges = told_ranges();
    const ToldRange& range = kRanges[below(kRanges.size())];
    const std::size_t at = range.begin + below(range.bytes);
    if (below(3) == 0) {
      journal[at] = static_cast<char>(below(256));
      return;
    }
    // The numbers wrap around, are no index, or are no numbers at all.
    static const std::array<std::uint64_t, 10> kOdd{0,
                                                    1,
                                                    0xffff,
                                                    0xffffffff,
                                                    std::uint64_t{1} << 32,
                                                    std::uint64_t{1} << 62,
                                                    std::uint64_t{1} << 63,
                                                    std::numeric_limits<std::uint64_t>::max(),
                                                    0x7ff8000000000000,   // NaN
                                                    0xfff0000000000000};  // -infinity
    const std::uint64_t odd = kOdd.at(below(kOdd.size()));
    const std::size_t bytes = std::size_t{1} << below(4);
    const std::size_t aligned = at / bytes * bytes;
    std::memcpy(journal.data() + aligned, &odd, bytes);
  }

  std::mt19937 random_;
};

// Returns the files of a folder and below it, with their sizes, except journals.
std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> traces;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() != ".journal")
      traces.push_back(entry.path());
  return traces;
}

// Returns whether the journal was used.
bool check_recovery(const std::string& folder, const std::string& path,
                    const std::string& journal) {
  const std::vector<RecoveredTrace> recovered = recover_journals(folder, {folder});
  if (recovered.empty()) {  // taken for an empty one
    CHECK_FALSE(fs::exists(path));
    return false;
  }
  REQUIRE(recovered.size() == 1);
  if (!recovered[0].problem.empty()) {
    REQUIRE(fs::exists(path));
    REQUIRE(read_file(path) == journal);
    fs::remove(path);
    return false;
  }
  REQUIRE_FALSE(fs::exists(path));
  if (recovered[0].path.empty()) return false;
  const std::string text = read_trace(recovered[0].path);
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  return true;
}

void recover_damaged(const LeftJournal& left, unsigned seed, int rounds) {
  const TemporaryFolder folder;
  LeftJournal whole = left;
  whole.folder = folder.path();
  whole.trace = folder.path("ep0-ba0-rank0.unfinished.json");
  const std::string path = leave_journal(whole);
  const std::string journal = read_file(path);
  fs::remove(path);
  RandomDamage damage(seed);
  int used = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    std::string damaged = journal;
    damage.apply(damaged);
    std::ofstream(path, std::ios::binary) << damaged;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    used += check_recovery(folder.path(), path, damaged) ? 1 : 0;
    for (const std::string& trace : traces_in(folder.path())) fs::remove(trace);
  }
  // Most damages hit something that is left out or counted, some hit the whole journal.
  CHECK(used > rounds / 4);
  CHECK(used < rounds);
}

}  // namespace

TEST_CASE("journal fuzz: damaged ones of a session by CLOCK_MONOTONIC" *
          doctest::test_suite("long")) {
  recover_damaged({}, 1, static_cast<int>(tries(300)));
}

TEST_CASE("journal fuzz: damaged ones of a session by the processor's counter" *
          doctest::test_suite("long")) {
  recover_damaged({.is_tsc = true}, 2, static_cast<int>(tries(300)));
}
