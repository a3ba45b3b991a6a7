// NodeRun: the ranks of one node that record and merge, with the folders that they write to.
//
//   const NodeRun run(3);
//   NodeMerger merger(run.merge(), options);     // in each rank, with run.session(rank)
//   CHECK(run.told() == "0: 3 ranks, ...");      // what on_merged got
#pragma once

#include "merge/merger.h"
#include "node_merge/node_merger.h"
#include "record/recorded.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace traceloom::record {

// Returns everything in a folder and below it, hidden or not.
inline std::vector<std::string> all_files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder));
  std::sort(files.begin(), files.end());
  return files;
}

// A run of some ranks of one node: traces/ and merged/, and what on_merged got in told.txt.
class NodeRun {
 public:
  explicit NodeRun(int ranks) : ranks_(ranks) {}

  Options session(int rank) const {
    Options options;
    options.rank = 4 + rank;  // other ranks are on a first node elsewhere
    options.local_rank = rank;
    options.node_rank = 1;
    options.world_size = 4 + ranks_;
    options.local_world_size = ranks_;
    options.folder = path("traces");
    options.schedule = [](const Position& at) {
      return at.batch % 2 == 1 ? Action::active_and_save : Action::active;
    };
    return options;
  }
  NodeMergeOptions merge() const {
    NodeMergeOptions options = told_in("merged");
    options.folder = path("merged");
    options.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";  // one a cycle
    return options;
  }
  // Returns options for one trace of all cycles, next to those of the ranks.
  NodeMergeOptions growing() const { return told_in("traces"); }
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string told() const { return read_file(path("told.txt")); }
  std::vector<std::string> merged() const { return all_files_in(path("merged")); }
  std::vector<std::string> traces() const { return all_files_in(path("traces")); }
  std::string trace(std::uint64_t batch, int rank) const {
    return path(fmt::format("traces/ep0-ba{}-rank{}.json", batch, 4 + rank));
  }

  // Returns what trace-merge makes of these.
  std::string merge_of(const std::vector<std::string>& traces) const {
    MergeOptions options;
    options.inputs = expand_inputs(traces);
    options.output = path("expected.json");
    options.threads = 1;  // there may be more children
    merge_traces(options);
    return read_file(options.output);
  }

  const TemporaryFolder& folder() const { return folder_; }

 private:
  // Notes each merge in told.txt, with its path below `folder`.
  NodeMergeOptions told_in(const std::string& folder) const {
    NodeMergeOptions options;
    options.patience_ms = 3'600'000;  // a busy machine is no broken one
    options.on_merged = [this, folder](const NodeMerge& merge) {
      std::ofstream(path("told.txt"), std::ios::app) << fmt::format(
          "{}: {} ranks, {}, batch {}: {}\n", merge.cycle, merge.ranks,
          merge.path.empty() ? "none"
                             : std::filesystem::relative(merge.path, path(folder)).string(),
          merge.position.batch, merge.problem);
    };
    return options;
  }

  int ranks_;
  TemporaryFolder folder_;
};

// Returns each X of a trace, without its time: the contents, whatever clock it is on.
inline std::vector<std::string> contents_of(const std::string& trace) {
  std::vector<std::string> contents;
  for (const std::string& event : Events(trace).with("\"ph\":\"X\"")) {
    const std::size_t begin = event.find("\"ts\":");
    const std::size_t end = event.find(',', begin);
    contents.push_back(event.substr(0, begin) + event.substr(end + 1));
  }
  std::sort(contents.begin(), contents.end());
  return contents;
}

// Trains batches, every second one of which ends a cycle.
inline void train(Session& session, int batches) {
  static const Marker marker("event/batch");
  run_batches(session, marker, batches);
}

}  // namespace traceloom::record
