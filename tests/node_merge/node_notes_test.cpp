#include "node_merge/node_notes.h"

#include "base/problems.h"
#include "node_merge/node_team.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using namespace traceloom;

namespace {

TraceNote note_of_rank(std::int64_t rank, const std::string& path) {
  return {.cycle = 2, .rank = rank, .path = path, .bytes = 10, .inode = 11};
}

// These are made before anything else of this program, so what they use is destroyed before them.
std::optional<TemporaryFolder> last_folder;
std::optional<NodeNotes> last_notes;

}  // namespace

// Only the address sanitizer shows what is wrong with that, at the end of the program.
TEST_CASE("node_notes: may be left when the program exits") {
  last_folder.emplace();
  last_notes.emplace(last_folder->path(), 0, 0);
  CHECK(last_notes->is_at_work(0));
}

TEST_CASE("node_notes: are read as they were written, whatever the folder is called") {
  const TemporaryFolder folder;
  const NodeNotes notes(folder.path(), 0, 0);
  CHECK(notes.read(2, 0) == std::nullopt);
  for (const std::string name : {"a trace\nof.json", "sub/rank0.json", "..rank0.json"}) {
    notes.write(note_of_rank(4, folder.path(name)));
    CHECK(notes.read(2, 0) == note_of_rank(4, folder.path(name)));
  }
  notes.write(note_of_rank(4, "/elsewhere/rank0.json"));
  CHECK(notes.read(2, 0) == note_of_rank(4, "/elsewhere/rank0.json"));
  notes.write(note_of_rank(4, ""));
  CHECK(notes.read(2, 0) == note_of_rank(4, ""));
  CHECK(notes.read(2, 1) == std::nullopt);
  CHECK(notes.read(1, 0) == std::nullopt);
  notes.remove(2, 0);
  CHECK(notes.read(2, 0) == std::nullopt);
}

TEST_CASE("node_notes: what is noted of a file is which one it is") {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank0.json", "12345");
  const TraceNote note = note_of(1, 7, path);
  CHECK(note.cycle == 1);
  CHECK(note.rank == 7);
  CHECK(note.path == path);
  CHECK(note.bytes == 5);
  CHECK(note == note_of(1, 7, path));
  std::filesystem::rename(folder.write("other.json", "54321"), path);
  CHECK_FALSE(note == note_of(1, 7, path));
  CHECK(note_of(1, 7, folder.path("none.json")) == TraceNote{.cycle = 1, .rank = 7});
  CHECK(note_of(1, 7, "") == TraceNote{.cycle = 1, .rank = 7});
}

TEST_CASE(
    "node_notes: what is kept stays, whatever becomes of the file, until the note is removed") {
  const TemporaryFolder folder;
  const NodeNotes notes(folder.path(), 0, 0);
  const std::string path = folder.write("sub/rank0.json", "12345");
  const TraceNote note = notes.keep(note_of(3, 7, path));
  CHECK(note.path == path);
  CHECK(note.source() == folder.path(".node0-merge/cycle3-rank0.kept/rank0.json"));
  CHECK(std::filesystem::hard_link_count(path) == 2);
  notes.write(note);
  CHECK(notes.read(3, 0) == note);
  CHECK(is_there(note));
  std::filesystem::remove(path);
  CHECK(is_there(note));
  CHECK(read_file(note.source()) == "12345");
  std::ofstream(note.source(), std::ios::app) << "more";
  CHECK_FALSE(is_there(note));
  notes.remove(3, 0);
  CHECK_FALSE(std::filesystem::exists(folder.path(".node0-merge/cycle3-rank0.kept")));
  const std::string again = folder.write("sub/rank0.json", "123");
  const TraceNote of_cycle = notes.keep(note_of(5, 7, again), "cycle5-rank7.json");
  CHECK(of_cycle.source() == folder.path(".node0-merge/cycle5-rank0.kept/cycle5-rank7.json"));
  notes.write(of_cycle);
  CHECK(notes.read(5, 0) == of_cycle);
  notes.remove(5, 0);
  CHECK_FALSE(std::filesystem::exists(of_cycle.source()));
  CHECK(notes.keep(note_of(3, 7, "")).kept.empty());
  CHECK_THROWS_AS(notes.keep({.cycle = 4, .path = folder.path("none.json")}), Error);
}

TEST_CASE("node_notes: a rank is at work until it leaves or dies") {
  const TemporaryFolder folder;
  NodeTeam team(3);
  const std::vector<int> codes = team.run([&](int rank) {
    NodeNotes notes(folder.path(), 0, rank);
    if (!notes.is_at_work(rank) || notes.is_at_work(9)) _exit(1);
    team.meet();
    if (rank == 0 && (!notes.is_at_work(1) || !notes.is_at_work(2))) _exit(2);
    team.meet();
    if (rank == 1) notes.leave();
    if (rank == 1 && notes.is_at_work(1)) _exit(3);
    if (rank == 2) raise(SIGKILL);
    if (rank == 1) return;
    while (notes.is_at_work(1) || notes.is_at_work(2)) std::this_thread::yield();
  });
  CHECK(codes[0] == 0);
  CHECK(codes[1] == 0);
  CHECK(WIFSIGNALED(codes[2]));
  CHECK_FALSE(std::filesystem::exists(folder.path(".node0-merge")));
}

TEST_CASE("node_notes: those of a run that is over are gone, those of ranks at work stay") {
  const TemporaryFolder folder;
  const int status = wait_for(start_child([&] {
    const NodeNotes first(folder.path(), 0, 1);
    first.write(note_of_rank(1, folder.path("old.json")));
    raise(SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(status));
  NodeTeam team(2);
  const std::vector<int> codes = team.run([&](int rank) {
    if (rank == 1) {
      const NodeNotes other(folder.path(), 0, 2);
      other.write(note_of_rank(2, folder.path("new.json")));
      team.say(0);
      team.wait(1);
      return;
    }
    team.wait(0);
    const NodeNotes notes(folder.path(), 0, 0);
    const bool is_right = notes.read(2, 1) == std::nullopt &&
                          notes.read(2, 2) == note_of_rank(2, folder.path("new.json"));
    team.say(1);
    _exit(is_right ? 0 : 1);
  });
  CHECK(codes == std::vector<int>{0, 0});
}

TEST_CASE("node_notes: nor can one process be a rank twice, until it leaves") {
  const TemporaryFolder folder;
  const auto refusal = [&]() -> std::string {
    try {
      const NodeNotes again(folder.path(), 0, 0);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  {
    NodeNotes notes(folder.path(), 0, 0);
    for (int i = 0; i < 2; ++i)
      CHECK(refusal() ==
            folder.path(".node0-merge/rank0.lock") + ": this process is local rank 0 here already");
    // The refused ones have not given up what the first one has.
    CHECK(run_child([&] { _exit(notes.is_at_work(0) && !refusal().empty() ? 0 : 1); }) == 0);
    const NodeNotes other_node(folder.path(), 1, 0);
    notes.leave();
    CHECK(refusal() == "");
  }
  CHECK(refusal() == "");
}

TEST_CASE("node_notes: two processes cannot be one rank, and other nodes have notes of their own") {
  const TemporaryFolder folder;
  const NodeNotes notes(folder.path(), 0, 0);
  CHECK(run_child([&] {
          const NodeNotes other_node(folder.path(), 1, 0);
          try {
            const NodeNotes again(folder.path(), 0, 0);
          } catch (const Error& error) {
            _exit(error.what() == folder.path(".node0-merge/rank0.lock") +
                                      ": another process is local rank 0 here"
                      ? 0
                      : 1);
          }
          _exit(2);
        }) == 0);
  CHECK_THROWS_AS(NodeNotes(folder.write("file", ""), 0, 0), Error);
}
