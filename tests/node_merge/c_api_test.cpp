// These tests check what only the interface for C does; tests/package/train_merged.c is a program
// in C.
#include "input/byte_source.h"
#include "node_merge/traceloom_node_merge.h"
#include "record/names/run_place.h"
#include "record/recorded.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Lines = std::vector<std::string>;

traceloom_options node_of_one(const std::string& folder) {
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = folder.c_str();
  options.rank = 3;
  options.node_rank = 1;
  options.local_world_size = 1;
  options.world_size = 4;
  return options;
}

// Records a step in each batch, and closes the session and the merger.
void record_batches(std::uint64_t batches, traceloom_options& options,
                    const traceloom_node_merge_options& merge) {
  traceloom_node_merger* merger = traceloom_node_merger_open(&merge, &options);
  REQUIRE(merger != nullptr);
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  traceloom_marker* const step = traceloom_marker_new("step", "", 0, 0);
  traceloom_position at = TRACELOOM_POSITION_INIT;
  while (at.batch < batches) {
    CHECK(traceloom_batch_begin(session, &at) == 0);
    traceloom_end(step, traceloom_begin(step));
    ++at.batch;
    CHECK(traceloom_batch_end(session, &at) == 0);
  }
  CHECK(traceloom_close(session) == 0);
  CHECK(traceloom_node_merger_close(merger) == 0);
}

}  // namespace

TEST_CASE("node_merger: for C, each cycle is merged and told, with what was there before") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  const std::string merged = folder.path("merged");
  Lines told;
  Lines saved;
  traceloom_options options = node_of_one(traces);
  options.schedule = [](void*, const traceloom_position*) -> int {
    return TRACELOOM_ACTIVE_AND_SAVE;
  };
  options.on_saved_trace = [](void* arg, const traceloom_saved_trace* trace) {
    static_cast<Lines*>(arg)->push_back(fmt::format("{} {} {} batch {}", trace->path, trace->events,
                                                    trace->dropped, trace->at->batch));
  };
  options.on_saved_trace_arg = &saved;
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  merge.folder = merged.c_str();
  merge.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";
  merge.on_merged = [](void* arg, const traceloom_merged_trace* trace) {
    static_cast<Lines*>(arg)->push_back(
        fmt::format("{}: {} {} ranks {} events batch {}: {}", trace->cycle, trace->path,
                    trace->ranks, trace->events, trace->at->batch, trace->problem));
  };
  merge.on_merged_arg = &told;
  record_batches(2, options, merge);
  CHECK(saved == Lines{folder.path("traces/ep0-ba1-rank3.json") + " 1 0 batch 1",
                       folder.path("traces/ep0-ba2-rank3.json") + " 1 0 batch 2"});
  CHECK(told ==
        Lines{"0: " + folder.path("merged/node1/ep0-ba1.json") + " 1 ranks 1 events batch 1: ",
              "1: " + folder.path("merged/node1/ep0-ba2.json") + " 1 ranks 1 events batch 2: "});
  CHECK(files_in(folder.path("merged/node1")) == Lines{"ep0-ba1.json", "ep0-ba2.json"});
}

TEST_CASE("node_merger: for C, one trace in the folder of the traces has all cycles") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("{run_name}-{node_rank}");
  traceloom_options options = node_of_one(traces);
  options.num_traces_to_keep = 0;
  options.schedule = [](void*, const traceloom_position*) -> int {
    return TRACELOOM_ACTIVE_AND_SAVE;
  };
  const traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  record_batches(3, options, merge);
  const std::string made = folder.path(default_run_name() + "-1");
  CHECK(files_in(made) == Lines{"node1.json"});
  CHECK(Events::of_file(made + "/node1.json").count("step", "X") == 3);
}

TEST_CASE("node_merger: for C, what cannot be merged is an error") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  traceloom_options options = node_of_one(traces);
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  const auto error_of = [&]() -> std::string {
    return traceloom_node_merger_open(&merge, &options) == nullptr ? traceloom_last_error() : "";
  };
  options.write_json = 0;
  CHECK(error_of() == "a session that writes no files has nothing to merge (write_json)");
  options.write_json = 1;
  merge.gzip_level = 10;
  CHECK(error_of() == "gzip_level 10 is not from 0 to 9");
  merge.gzip_level = 1;
  CHECK(traceloom_node_merge_check(nullptr, &options) == -1);
  merge.file_name = "all.tar";
  CHECK(error_of().starts_with("all.tar: an archive cannot grow; "));
  merge.size = 0;
  CHECK(error_of().starts_with("traceloom_node_merge_options.size is 0: "));
  merge.size = sizeof merge;
  options.size = offsetof(traceloom_options, note_saved);
  CHECK(error_of() ==
        "traceloom_options has no note_saved: compile with the traceloom.h of this library");
  CHECK(traceloom_node_merger_open(nullptr, &options) == nullptr);
  CHECK(traceloom_node_merger_close(nullptr) == 0);
  CHECK((options.note_saved == nullptr));
}

TEST_CASE("node_merger: for C, on_merged cannot close the merger, and is told so") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  const std::string merged = folder.path("merged");
  struct Told {
    traceloom_node_merger* merger;
    Lines lines;
  } told{};
  traceloom_options options = node_of_one(traces);
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  merge.folder = merged.c_str();
  merge.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";
  merge.on_merged = [](void* arg, const traceloom_merged_trace* trace) {
    Told& heard = *static_cast<Told*>(arg);
    const int result = traceloom_node_merger_close(heard.merger);
    heard.lines = {trace->path, fmt::format("{} {}", result, traceloom_last_error())};
  };
  merge.on_merged_arg = &told;
  told.merger = traceloom_node_merger_open(&merge, &options);
  REQUIRE(told.merger != nullptr);
  traceloom_session* const session = traceloom_open(&options);
  CHECK(traceloom_close(session) == 0);
  CHECK(traceloom_node_merger_close(told.merger) == 0);
  CHECK(told.lines == Lines{folder.path("merged/node1/ep0-ba0.json"),
                            "-1 traceloom_node_merger_close() was called in on_merged, which would "
                            "wait for itself; the merger is still open"});
}

TEST_CASE("node_merger: for C, options may be used again, and the merger closed first") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  const std::string merged = folder.path("merged");
  Lines saved;
  Lines told;
  traceloom_options options = node_of_one(traces);
  options.overwrite = 1;
  options.on_saved_trace = [](void* arg, const traceloom_saved_trace* trace) {
    static_cast<Lines*>(arg)->push_back(trace->path);
  };
  options.on_saved_trace_arg = &saved;
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  merge.folder = merged.c_str();
  merge.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";
  merge.on_merged = [](void* arg, const traceloom_merged_trace* trace) {
    static_cast<Lines*>(arg)->push_back(trace->path);
  };
  merge.on_merged_arg = &told;
  const std::string trace = folder.path("traces/ep0-ba0-rank3.json");
  for (int run = 0; run < 2; ++run) {
    traceloom_node_merger* const merger = traceloom_node_merger_open(&merge, &options);
    REQUIRE(merger != nullptr);
    traceloom_session* const session = traceloom_open(&options);
    REQUIRE(session != nullptr);
    CHECK(traceloom_close(session) == 0);
    CHECK(traceloom_node_merger_close(merger) == 0);
  }
  CHECK(saved == Lines{trace, trace});
  const Lines both(2, folder.path("merged/node1/ep0-ba0.json"));
  CHECK(told == both);
  traceloom_node_merger* const merger = traceloom_node_merger_open(&merge, &options);
  traceloom_session* const session = traceloom_open(&options);
  CHECK(traceloom_node_merger_close(merger) == 0);
  CHECK(traceloom_close(session) == 0);
  CHECK(saved == Lines{trace, trace, trace});
  CHECK(told == both);
}

TEST_CASE("node_merger: for C, a cycle is merged also when what was there before throws") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  const std::string merged = folder.path("merged");
  Lines told;
  traceloom_options options = node_of_one(traces);
  options.on_saved_trace = [](void*, const traceloom_saved_trace*) {
    throw std::runtime_error("no room");
  };
  SUBCASE("the older callback as well") {
    options.on_saved = [](void*, const char*, std::uint64_t, std::uint64_t) {
      throw std::runtime_error("nor here");
    };
  }
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  merge.folder = merged.c_str();
  merge.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";
  merge.on_merged = [](void* arg, const traceloom_merged_trace* trace) {
    static_cast<Lines*>(arg)->push_back(trace->path);
  };
  merge.on_merged_arg = &told;
  traceloom_node_merger* const merger = traceloom_node_merger_open(&merge, &options);
  REQUIRE(merger != nullptr);
  traceloom_session* const session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  CHECK(traceloom_close(session) == 0);
  CHECK(traceloom_node_merger_close(merger) == 0);
  CHECK(told == Lines{folder.path("merged/node1/ep0-ba0.json")});
}
