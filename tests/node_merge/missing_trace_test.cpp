// These tests check what a merge says of traces that it cannot have or write.
#include "node_merge/node_run.h"
#include "node_merge/node_team.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("node_merger: a rank that dies is left out when the first one closes, and told") {
  constexpr int kRanks = 3;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    NodeMerger merger(run.merge(), options);
    team.meet();
    Session session(options);
    train(session, rank == 2 ? 2 : 4);
    session.wait_saved(3'600'000);
    if (rank == 2) raise(SIGKILL);
  });
  CHECK(codes[0] == 0);
  CHECK(codes[1] == 0);
  CHECK(WIFSIGNALED(codes[2]));
  CHECK(run.told() ==
        "0: 3 ranks, node1/ep0-ba2.json, batch 2: \n"
        "1: 2 ranks, node1/ep0-ba4.json, batch 4: local rank 2 has saved no trace of it\n");
  CHECK(read_file(run.path("merged/node1/ep0-ba4.json")) ==
        run.merge_of({run.trace(4, 0), run.trace(4, 1)}));
}

TEST_CASE("node_merger: a rank without a file, and a file that is another by now, are left out") {
  constexpr int kRanks = 3;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  static_cast<void>(run.folder().write("traces/blocked", "a file where a folder should be"));
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    options.overwrite = true;
    if (rank == 1) options.file_name = [](const Position&) { return "blocked/rank5.json"; };
    NodeMerger merger(run.merge(), options);
    team.meet();
    Session session(options);
    if (rank == 0) team.wait(0);  // so the first cycle waits for it
    train(session, 2);
    session.close();
    if (rank != 2) return;
    std::ofstream(run.trace(2, 2), std::ios::app) << "more";
    team.say(0);
  });
  CHECK(codes == std::vector<int>(kRanks, 0));
  CHECK(run.told() ==
        fmt::format("0: 1 ranks, node1/ep0-ba2.json, batch 2: rank 5 has no trace of it; {} is not "
                    "what rank 6 has saved\n",
                    run.trace(2, 2)));
  CHECK(read_file(run.path("merged/node1/ep0-ba2.json")) == run.merge_of({run.trace(2, 0)}));
}

TEST_CASE("node_merger: what cannot be merged or written is told, and nothing is left of it") {
  const NodeRun run(1);
  static_cast<void>(run.folder().write("merged/node1", "a file where a folder should be"));
  CHECK(run_child([&] {
          Options options = run.session(0);
          NodeMerger merger(run.merge(), options);
          Session session(options);
          train(session, 2);
        }) == 0);
  CHECK(run.told().starts_with("0: 0 ranks, none, batch 2: "));
  CHECK(run.told().find("Not a directory") != std::string::npos);
  CHECK(run.merged() == std::vector<std::string>{"node1"});
}

TEST_CASE("node_merger: refuses what it cannot merge") {
  const NodeRun run(2);
  const auto problem = [](const NodeMergeOptions& merge, Options session) {
    try {
      const NodeMerger merger(merge, session);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Options session = run.session(0);
  session.write_json = false;
  CHECK(problem(run.merge(), session) ==
        "a session that writes no files has nothing to merge (write_json)");
  session = run.session(0);
  session.local_world_size = 0;
  CHECK(problem(run.merge(), session) ==
        "a merge per node has to know its ranks: this is local rank 0 of 0");
  session = run.session(0);
  NodeMergeOptions merge = run.merge();
  merge.file_name = "node{node_rank}.tar.gz";
  CHECK(problem(merge, session) ==
        "node{node_rank}.tar.gz: an archive cannot grow; put {epoch} and {batch} into the name, "
        "for one a cycle, or let it end in .json");
  CHECK(all_files_in(run.folder().path()).empty());
}
