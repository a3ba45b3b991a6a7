#include "record/names/trace_folder.h"

#include "base/problems.h"
#include "record/scratch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

using namespace traceloom;
using namespace traceloom::record;

namespace {

RunIdentity rank(std::int64_t rank) {
  return {
      "gpt",
      {.rank = rank, .local_rank = rank, .world_size = 4, .local_world_size = 4, .node_rank = 0}};
}

TraceNames names_in(const Scratch& scratch) {
  TraceNames names;
  names.folder = scratch / "{run_name}/traces";
  return names;
}

std::string refusal(const TraceNames& names, const RunIdentity& run,
                    OverwriteTraces overwrite = OverwriteTraces::no) {
  try {
    prepare_folder(names, run, overwrite);
  } catch (const Error& error) {
    return error.problem();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

std::string not_empty(const std::string& name) {
  return "is not empty (" + name + "): choose another folder or run name, or allow to overwrite";
}

}  // namespace

TEST_CASE("trace_folder: is made with its parents, and names files by position") {
  const Scratch scratch;
  const TraceNames names = names_in(scratch);
  prepare_folder(names, rank(1));
  CHECK(std::filesystem::is_directory(scratch / "gpt/traces"));
  CHECK(folder_of(names, rank(1)) == scratch / "gpt/traces");
  Position position;
  position.batch = 5;
  CHECK(NameTemplate(names.file).expand(rank(1), position) == "ep0-ba5-rank1.json");
}

TEST_CASE("trace_folder: one that another run left something in is refused") {
  const Scratch scratch;
  scratch.write("gpt/traces/old/notes.txt");
  CHECK(refusal(names_in(scratch), rank(1)) == not_empty("old/notes.txt"));
}

TEST_CASE("trace_folder: each rank refuses what it could have written itself") {
  const Scratch scratch;
  const TraceNames names = names_in(scratch);
  scratch.write("gpt/traces/ep3-ba77-rank2.json");
  CHECK(refusal(names, rank(1)) == "taken");  // rank 2 may be faster
  CHECK(refusal(names, rank(2)) == not_empty("ep3-ba77-rank2.json"));
  CHECK(refusal(names, rank(2), OverwriteTraces::yes) == "taken");
  CHECK(scratch.has("gpt/traces/ep3-ba77-rank2.json"));
}

TEST_CASE("trace_folder: a file of another rank that is being written is no obstacle") {
  const Scratch scratch;
  scratch.write("gpt/traces/ep3-ba77-rank2.unfinished.json");
  CHECK(refusal(names_in(scratch), rank(1)) == "taken");
  CHECK(refusal(names_in(scratch), rank(2)) == not_empty("ep3-ba77-rank2.unfinished.json"));
}

TEST_CASE("trace_folder: a rank that this run does not have is of another run") {
  const Scratch scratch;
  scratch.write("gpt/traces/ep0-ba5-rank4.json");
  CHECK(refusal(names_in(scratch), rank(1)) == not_empty("ep0-ba5-rank4.json"));
}

TEST_CASE("trace_folder: the merged file of the node is its first rank's") {
  const Scratch scratch;
  scratch.write("gpt/traces/node0.json");
  CHECK(refusal(names_in(scratch), rank(1)) == "taken");
  CHECK(refusal(names_in(scratch), rank(0)) == not_empty("node0.json"));
}

TEST_CASE("trace_folder: hidden files and empty folders are no obstacle") {
  const Scratch scratch;
  scratch.write("gpt/traces/.cache/x.json");
  scratch.write("gpt/traces/.journal");
  std::filesystem::create_directories(scratch / "gpt/traces/empty");
  CHECK(refusal(names_in(scratch), rank(1)) == "taken");
}

TEST_CASE("trace_folder: a path that cannot be a folder is an error") {
  const Scratch scratch;
  scratch.write("gpt");
  CHECK(refusal(names_in(scratch), rank(1)) == "Not a directory");
}

TEST_CASE("trace_folder: names that ranks would share are refused") {
  const Scratch scratch;
  TraceNames names = names_in(scratch);
  names.file = "ep{epoch}.json";
  CHECK(refusal(names, rank(1)) ==
        "the name of trace files 'ep{epoch}.json' is the same on all ranks; put {rank} in it");
  RunIdentity alone = rank(0);
  alone.place.world_size = 1;
  CHECK(refusal(names, alone) == "taken");
  names.folder = scratch / "{rank}";
  CHECK(refusal(names, rank(1)) == "taken");
  names.file = "";
  CHECK(refusal(names, rank(1)) ==
        "the name of trace files is empty (try ep{epoch}-ba{batch}-rank{rank}.json)");
}
