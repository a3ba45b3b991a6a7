#include "record/trace_folder.h"

#include "base/error.h"
#include "record/scratch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;
namespace fs = std::filesystem;

namespace {

TraceFolderOptions options_in(const Scratch& scratch, std::int64_t rank = 1) {
  TraceFolderOptions options;
  options.run = {
      "gpt",
      {.rank = rank, .local_rank = rank, .world_size = 4, .local_world_size = 4, .node_rank = 0}};
  options.folder = scratch / "{run_name}/traces";
  return options;
}

TrainingPosition at(std::int64_t batch) {
  TrainingPosition position;
  position.batch = batch;
  return position;
}

std::string refusal(const TraceFolder& folder) {
  try {
    folder.prepare();
  } catch (const Error& error) {
    return error.problem();
  }
  return "taken";
}

std::string constructor_refusal(const TraceFolderOptions& options) {
  try {
    const TraceFolder folder(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

void save(TraceFolder& folder, const Scratch& scratch, std::int64_t batch) {
  const std::string path = folder.path_at(at(batch));
  scratch.write(fs::path(path).lexically_relative(scratch / "").string());
  folder.saved(at(batch), {path});
}

}  // namespace

TEST_CASE("trace_folder: is made with its parents, and names files by position") {
  const Scratch scratch;
  const TraceFolder folder(options_in(scratch));
  folder.prepare();
  CHECK(fs::is_directory(scratch / "gpt/traces"));
  CHECK(folder.path() == scratch / "gpt/traces");
  CHECK(folder.path_at(at(5)) == scratch / "gpt/traces/ep0-ba5-rank1.json");
  CHECK(folder.merged_path() == scratch / "gpt/traces/node0.json");
}

TEST_CASE("trace_folder: one that another run left something in is refused") {
  const Scratch scratch;
  scratch.write("gpt/traces/old/notes.txt");
  CHECK(refusal(TraceFolder(options_in(scratch))) ==
        "is not empty (old/notes.txt): choose another folder or run name, or allow to overwrite");
}

TEST_CASE("trace_folder: each rank refuses what it could have written itself") {
  const Scratch scratch;
  scratch.write("gpt/traces/ep3-ba77-rank2.json");
  scratch.write("gpt/traces/ep3-ba80-rank2.unfinished.json");
  CHECK(refusal(TraceFolder(options_in(scratch, 1))) == "taken");  // rank 2 may be faster
  std::filesystem::remove(scratch / "gpt/traces/ep3-ba80-rank2.unfinished.json");
  CHECK(refusal(TraceFolder(options_in(scratch, 2))) ==
        "is not empty (ep3-ba77-rank2.json): choose another folder or run name, or allow to "
        "overwrite");
  TraceFolderOptions overwriting = options_in(scratch, 2);
  overwriting.overwrite = OverwriteTraces::yes;
  CHECK(refusal(TraceFolder(overwriting)) == "taken");
  CHECK(scratch.has("gpt/traces/ep3-ba77-rank2.json"));
}

TEST_CASE("trace_folder: a rank that this run does not have is of another run") {
  const Scratch scratch;
  scratch.write("gpt/traces/ep0-ba5-rank4.json");
  CHECK(refusal(TraceFolder(options_in(scratch, 1))) ==
        "is not empty (ep0-ba5-rank4.json): choose another folder or run name, or allow to "
        "overwrite");
}

TEST_CASE("trace_folder: the merged file of the node is its first rank's") {
  const Scratch scratch;
  scratch.write("gpt/traces/node0.json");
  CHECK(refusal(TraceFolder(options_in(scratch, 1))) == "taken");
  CHECK(refusal(TraceFolder(options_in(scratch, 0))) ==
        "is not empty (node0.json): choose another folder or run name, or allow to overwrite");
}

TEST_CASE("trace_folder: hidden files and empty folders are no obstacle") {
  const Scratch scratch;
  scratch.write("gpt/traces/.cache/x.json");
  scratch.write("gpt/traces/.journal");
  fs::create_directories(scratch / "gpt/traces/empty");
  CHECK(refusal(TraceFolder(options_in(scratch))) == "taken");
}

TEST_CASE("trace_folder: a path that cannot be a folder is an error") {
  const Scratch scratch;
  scratch.write("gpt");
  CHECK(refusal(TraceFolder(options_in(scratch))) == "Not a directory");
}

TEST_CASE("trace_folder: names that ranks would share are refused") {
  const Scratch scratch;
  TraceFolderOptions options = options_in(scratch);
  options.file_name = "ep{epoch}.json";
  CHECK(constructor_refusal(options) ==
        "the name of trace files 'ep{epoch}.json' is the same on all ranks; put {rank} in it");
  options.folder = scratch / "{rank}";
  CHECK(constructor_refusal(options) == "taken");
  options.folder = scratch / "x";
  options.run.place = {
      .rank = 0, .local_rank = 0, .world_size = 1, .local_world_size = 1, .node_rank = 0};
  CHECK(constructor_refusal(options) == "taken");
  options.traces_to_keep = -2;
  CHECK(constructor_refusal(options) == "num_traces_to_keep is -2; -1 keeps all, 0 none");
  options.traces_to_keep = 0;
  options.file_name = "";
  CHECK(constructor_refusal(options) ==
        "the name of trace files is empty (try ep{epoch}-ba{batch}-rank{rank}.json)");
}

TEST_CASE("trace_folder: keeps all unless told otherwise, and lists them") {
  const Scratch scratch;
  TraceFolder folder(options_in(scratch));
  folder.prepare();
  for (const std::int64_t batch : {5, 10, 15}) save(folder, scratch, batch);
  const std::vector<SavedTrace> saved = folder.saved_traces();
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].position.batch == 5);
  CHECK(saved[2].paths == std::vector<std::string>{folder.path_at(at(15))});
  CHECK(folder.take_failures().empty());
}

TEST_CASE("trace_folder: deletes the oldest of its own, and nothing else") {
  const Scratch scratch;
  scratch.write("gpt/traces/ep0-ba1-rank1.json");  // of an earlier run
  TraceFolderOptions options = options_in(scratch);
  options.overwrite = OverwriteTraces::yes;
  options.traces_to_keep = 2;
  TraceFolder folder(options);
  folder.prepare();
  for (const std::int64_t batch : {5, 10, 15, 20}) save(folder, scratch, batch);
  CHECK(scratch.has("gpt/traces/ep0-ba1-rank1.json"));
  CHECK_FALSE(scratch.has("gpt/traces/ep0-ba5-rank1.json"));
  CHECK_FALSE(scratch.has("gpt/traces/ep0-ba10-rank1.json"));
  CHECK(scratch.has("gpt/traces/ep0-ba15-rank1.json"));
  CHECK(scratch.has("gpt/traces/ep0-ba20-rank1.json"));
  CHECK(folder.saved_traces().size() == 2);
}

TEST_CASE("trace_folder: keeping none deletes each file when it has been saved") {
  const Scratch scratch;
  TraceFolderOptions options = options_in(scratch);
  options.traces_to_keep = 0;
  TraceFolder folder(options);
  folder.prepare();
  save(folder, scratch, 5);
  CHECK_FALSE(scratch.has("gpt/traces/ep0-ba5-rank1.json"));
  CHECK(folder.saved_traces().empty());
}

TEST_CASE("trace_folder: leaves a file that somebody has put in place of its own") {
  const Scratch scratch;
  TraceFolderOptions options = options_in(scratch);
  options.traces_to_keep = 1;
  TraceFolder folder(options);
  folder.prepare();
  save(folder, scratch, 5);
  // Written beside and renamed: the old file's inode is still taken while the new one is made.
  scratch.write("gpt/traces/.other");
  fs::rename(scratch / "gpt/traces/.other", scratch / "gpt/traces/ep0-ba5-rank1.json");
  save(folder, scratch, 10);
  CHECK(scratch.has("gpt/traces/ep0-ba5-rank1.json"));
  CHECK(scratch.has("gpt/traces/ep0-ba10-rank1.json"));
}

TEST_CASE("trace_folder: a file that each cycle writes anew is kept with the newest") {
  const Scratch scratch;
  TraceFolderOptions options = options_in(scratch, 0);
  options.traces_to_keep = 1;
  TraceFolder folder(options);
  folder.prepare();
  for (const std::int64_t batch : {5, 10}) {
    scratch.write("gpt/traces/node0.json");
    folder.saved(at(batch), {folder.merged_path()});
  }
  CHECK(scratch.has("gpt/traces/node0.json"));
}

TEST_CASE("trace_folder: a save whose file is not there is told") {
  const Scratch scratch;
  TraceFolder folder(options_in(scratch));
  folder.prepare();
  folder.saved(at(5), {folder.path_at(at(5))});
  CHECK(folder.take_failures() ==
        std::vector<std::string>{folder.path_at(at(5)) + ": No such file or directory"});
  CHECK(folder.take_failures().empty());
}
