#include "record/names/session_place.h"
#include "record/scratch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom::record;

namespace {

SavedTrace trace_of(const std::string& path, std::uint64_t batch) {
  SavedTrace trace;
  trace.position.batch = batch;
  trace.path = path;
  return trace;
}

std::string name_of(std::uint64_t batch) {
  return "ba" + std::to_string(batch) + ".json";
}

std::vector<std::string> save(KeptTraces& kept, const Scratch& scratch, std::uint64_t batch) {
  scratch.write(name_of(batch));
  CHECK(kept.add(trace_of(scratch / name_of(batch), batch)) == std::nullopt);
  CHECK(scratch.has(name_of(batch)));
  return kept.delete_old();
}

}  // namespace

TEST_CASE("kept_traces: a rest counts as part of the cycle before it") {
  const Scratch scratch;
  KeptTraces kept(1);
  const auto save_rest = [&](const std::string& name) {
    scratch.write(name);
    CHECK(kept.add(trace_of(scratch / name, 0), TracePart::rest) == std::nullopt);
    CHECK(kept.delete_old().empty());
  };
  save_rest("first.json");  // there is no cycle before it: it is one
  CHECK(save(kept, scratch, 1).empty());
  CHECK_FALSE(scratch.has("first.json"));
  save_rest("rest.json");
  save_rest("more.json");
  CHECK(kept.list().size() == 3);
  CHECK(scratch.has(name_of(1)));
  CHECK(save(kept, scratch, 2).empty());
  CHECK(kept.list().size() == 1);
  for (const std::string& gone : {name_of(1), std::string("rest.json"), std::string("more.json")})
    CHECK_FALSE(scratch.has(gone));
  CHECK(scratch.has(name_of(2)));
}

TEST_CASE("kept_traces: all are kept on demand, and listed") {
  const Scratch scratch;
  KeptTraces kept(kKeepAllTraces);
  for (const std::uint64_t batch : {5, 10, 15}) CHECK(save(kept, scratch, batch).empty());
  const std::vector<SavedTrace> saved = kept.list();
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].position.batch == 5);
  CHECK(saved[2].path == scratch / "ba15.json");
}

TEST_CASE("kept_traces: deletes the oldest of its own, and nothing else") {
  const Scratch scratch;
  scratch.write("ba1.json");  // from an earlier run
  KeptTraces kept(2);
  for (const std::uint64_t batch : {5, 10, 15, 20}) CHECK(save(kept, scratch, batch).empty());
  CHECK(scratch.has("ba1.json"));
  CHECK_FALSE(scratch.has("ba5.json"));
  CHECK_FALSE(scratch.has("ba10.json"));
  CHECK(scratch.has("ba15.json"));
  CHECK(scratch.has("ba20.json"));
  CHECK(kept.list().size() == 2);
}

TEST_CASE("kept_traces: keeping none deletes each file when it has been saved") {
  const Scratch scratch;
  KeptTraces kept(0);
  CHECK(save(kept, scratch, 5).empty());
  CHECK_FALSE(scratch.has("ba5.json"));
  CHECK(kept.list().empty());
}

TEST_CASE("kept_traces: leaves a file that somebody has put in place of its own") {
  const Scratch scratch;
  KeptTraces kept(1);
  save(kept, scratch, 5);
  // The file is written next to it and renamed: the old file's inode is still taken while the new
  // one is made.
  scratch.write("other");
  std::filesystem::rename(scratch / "other", scratch / "ba5.json");
  CHECK(save(kept, scratch, 10).empty());
  CHECK(scratch.has("ba5.json"));
  CHECK(scratch.has("ba10.json"));
}

TEST_CASE("kept_traces: a file whose name a later save used again goes with that one") {
  const Scratch scratch;
  KeptTraces kept(1);
  scratch.write("last.json");
  for (const std::uint64_t batch : {5, 10}) {
    CHECK(kept.add(trace_of(scratch / "last.json", batch)) == std::nullopt);
    CHECK(kept.delete_old().empty());
  }
  CHECK(scratch.has("last.json"));
  save(kept, scratch, 15);
  CHECK_FALSE(scratch.has("last.json"));
}

TEST_CASE("kept_traces: what is gone already is no failure, what was never there is one") {
  const Scratch scratch;
  KeptTraces kept(1);
  save(kept, scratch, 5);
  scratch.remove("ba5.json");
  CHECK(save(kept, scratch, 10).empty());
  CHECK(kept.add(trace_of(scratch / "none.json", 15)) ==
        scratch / "none.json: No such file or directory");
  CHECK(kept.list().size() == 1);
}

TEST_CASE("kept_traces: a file that cannot be deleted is told once") {
  const Scratch scratch;
  KeptTraces kept(1);
  std::filesystem::create_directory(scratch / "folder");  // unlink() refuses it, for root as well
  CHECK(kept.add(trace_of(scratch / "folder", 5)) == std::nullopt);
  CHECK(save(kept, scratch, 10) == std::vector<std::string>{scratch / "folder: Is a directory"});
  CHECK(save(kept, scratch, 15).empty());
}

TEST_CASE("kept_traces: refuses a number that says nothing") {
  CHECK_THROWS_WITH_AS(KeptTraces(-2), "num_traces_to_keep is -2; -1 keeps all, 0 none",
                       std::invalid_argument);
}
