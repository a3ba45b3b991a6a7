// These tests damage a journal: what it loses is reported, by the trace as well, and a journal with
// impossible numbers is kept.
#include "base/problems.h"
#include "record/dead_journals.h"
#include "record/journal/recover.h"
#include "record/recorded.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;
using record::detail::ChunkHeader;
using record::detail::Slot;

constexpr std::size_t kChunkAt = JournalLayout::head_bytes();
constexpr std::uint32_t kSlots = 12;  // ten scopes, and a counter of two slots

std::size_t slot_at(std::uint32_t index) {
  return kChunkAt + sizeof(ChunkHeader) + index * sizeof(Slot);
}

template <typename Number>
void overwrite(const std::string& path, std::size_t at, Number number) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(reinterpret_cast<const char*>(&number), sizeof number);
}

struct Damage {
  std::size_t at;
  std::uint32_t number;
};

// Recovers the only journal, after these damages.
RecoveredTrace recover_after(const TemporaryFolder& folder, const std::vector<Damage>& damages) {
  const std::string journal =
      leave_journal({folder.path(), folder.path("ep0-ba0-rank0.unfinished.json")});
  for (const Damage& damage : damages) overwrite(journal, damage.at, damage.number);
  const std::vector<RecoveredTrace> recovered = recover_journals(folder.path(), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].journal == journal);
  return recovered[0];
}

// Checks that nothing has been deleted, and no trace has been made.
void check_kept(const std::vector<Damage>& damages, const std::string& problem) {
  const TemporaryFolder folder;
  const RecoveredTrace result = recover_after(folder, damages);
  CHECK(result.problem == problem);
  CHECK(result.path.empty());
  CHECK(files_in(folder.path()) == std::vector<std::string>{fs::path(result.journal).filename()});
}

// Returns what the trace says of itself.
std::string counts_of(const RecoveredTrace& result) {
  const Events events = Events::of_file(result.path).of("recorder", "M");
  REQUIRE(events.size() == 1);
  const std::size_t at = events[0].find("\"args\":");
  return events[0].substr(at + std::strlen("\"args\":"), events[0].size() - at - 8);
}

}  // namespace

TEST_CASE("damaged journal: numbers of its events that cannot be keep all of it") {
  constexpr std::size_t kCommitted = kChunkAt + offsetof(ChunkHeader, committed);
  constexpr std::size_t kWritten = kChunkAt + offsetof(ChunkHeader, written);
  constexpr std::size_t kState = kChunkAt + offsetof(ChunkHeader, state);
  constexpr std::size_t kCommit =
      offsetof(JournalLayout, commits) + sizeof(JournalLayout::Commit);  // the first is number 1
  constexpr std::size_t kProgress = kCommit + offsetof(JournalLayout::Commit, progress);
  constexpr std::size_t kProgressCount = kCommit + offsetof(JournalLayout::Commit, progress_count);
  check_kept({{kWritten, 13}},
             "is damaged: of the 12 events of its block 0 it says that 13 are in the trace; it "
             "stays as it is");
  check_kept({{kCommitted, 3}, {kWritten, 4}},
             "is damaged: of the 3 events of its block 0 it says that 4 are in the trace; it stays "
             "as it is");
  check_kept({{kCommitted, 0xffffffff}},
             "is damaged: its block 0 of events has 4294967295 of 2046, in state 1; it stays as it "
             "is");
  check_kept({{kCommitted, 2047}},
             "is damaged: its block 0 of events has 2047 of 2046, in state 1; it stays as it is");
  check_kept({{kState, 77}},
             "is damaged: its block 0 of events has 12 of 2046, in state 77; it stays as it is");
  check_kept(
      {{kProgressCount, 1},
       {kProgress + offsetof(JournalLayout::Progress, sequence), 1},
       {kProgress + offsetof(JournalLayout::Progress, written), 100}},
      "is damaged: of the 12 events of its block 0 it says that 100 are in the trace; it stays as "
      "it is");
  check_kept({{kProgressCount, JournalLayout::kMaxChunks + 1}},
             "is damaged: it says that it has more than fits in; it stays as it is");
  check_kept({{offsetof(JournalLayout, label_bytes), 0x100001}},
             "is damaged: it says that it has more than fits in; it stays as it is");
}

TEST_CASE("damaged journal: one of which all events are in the trace is done with") {
  const TemporaryFolder folder;
  const RecoveredTrace result =
      recover_after(folder, {{kChunkAt + offsetof(ChunkHeader, written), kSlots}});
  CHECK(result.problem == "");
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("damaged journal: single events are left out, counted, and not told as a full disk's") {
  const TemporaryFolder folder;
  const RecoveredTrace result =
      recover_after(folder, {{slot_at(2) + offsetof(Slot, kind), 0},
                             {slot_at(5) + offsetof(Slot, kind), 0xffffff01},
                             {slot_at(7) + offsetof(Slot, value) + 4, 0x7fffffff}});
  CHECK(result.problem == "");
  CHECK(result.events == 8);
  CHECK(result.lost == 0);
  CHECK(result.damaged == 3);
  CHECK(words_of_loss(result) == ", 3 left out that are damaged in the journal");
  CHECK(counts_of(result) == R"({"events":8,"dropped":0,"lost":0,"recovered":8,"damaged":3})");
  const Events events = Events::of_file(result.path);
  CHECK(events.count("work", "X") == 7);
  CHECK(events.count("memory", "C") == 1);
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.json"});
}

TEST_CASE("damaged journal: zeros are no event of before the session") {
  const TemporaryFolder folder;
  std::vector<Damage> zeros;
  for (std::uint32_t word = 0; word < sizeof(Slot) / 4; ++word)
    zeros.push_back({slot_at(4) + word * std::size_t{4}, 0});
  const RecoveredTrace result = recover_after(folder, zeros);
  CHECK(result.events == 10);
  CHECK(result.damaged == 1);
  CHECK(words_of_loss(result) == ", 1 left out that is damaged in the journal");
}

TEST_CASE("damaged journal: one of which no event can be read stays") {
  std::vector<Damage> damages;
  for (std::uint32_t i = 0; i < kSlots; ++i)
    damages.push_back({slot_at(i) + offsetof(Slot, kind), 0xff});
  check_kept(damages, "is damaged: none of its events can be read; it stays as it is");
}

// Found by the fuzzer: a journal of 1.2 MB became a trace of 40 MB.
TEST_CASE("damaged journal: the name of a marker ends where the text does") {
  const TemporaryFolder folder;
  constexpr std::uint32_t kRoom = JournalLayout::kLabelBytes;
  const RecoveredTrace result =
      recover_after(folder, {{offsetof(JournalLayout, label_bytes), kRoom},
                             {offsetof(JournalLayout, labels) + sizeof(std::uint32_t), kRoom}});
  CHECK(result.problem == "");
  CHECK(Events::of_file(result.path).of("work", "X").size() == 10);
  CHECK(fs::file_size(result.path) < 10'000);
}
