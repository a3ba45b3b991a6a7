// These tests check what a node merges, under which names, and what it refuses.
#include "node_merge/node_run.h"
#include "node_merge/node_team.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace fs = std::filesystem;

TEST_CASE("node_merger: each cycle becomes the trace that trace-merge makes of its ranks") {
  constexpr int kRanks = 3;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    options.barrier = [&] { team.meet(); };
    NodeMerger merger(run.merge(), options);
    Session session(options);
    train(session, 4);
    session.close();
    merger.close();
    if (!session.status().last_error.empty()) _exit(3);
  });
  CHECK(codes == std::vector<int>(kRanks, 0));
  CHECK(run.told() ==
        "0: 3 ranks, node1/ep0-ba2.json, batch 2: \n"
        "1: 3 ranks, node1/ep0-ba4.json, batch 4: \n");
  CHECK(run.merged() == std::vector<std::string>{"node1/ep0-ba2.json", "node1/ep0-ba4.json"});
  for (const std::uint64_t batch : {2, 4}) {
    CAPTURE(batch);
    CHECK(read_file(run.path(fmt::format("merged/node1/ep0-ba{}.json", batch))) ==
          run.merge_of({run.trace(batch, 0), run.trace(batch, 1), run.trace(batch, 2)}));
  }
  // No notes between the ranks are left.
  CHECK(run.traces() == std::vector<std::string>{"ep0-ba2-rank4.json", "ep0-ba2-rank5.json",
                                                 "ep0-ba2-rank6.json", "ep0-ba4-rank4.json",
                                                 "ep0-ba4-rank5.json", "ep0-ba4-rank6.json"});
  CHECK_FALSE(fs::exists(run.path("traces/.node1-merge")));
}

TEST_CASE("node_merger: a process that nobody has told of others is alone on its node") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          for (const char* const name :
               {"RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "SLURM_PROCID"})
            unsetenv(name);
          Options options;
          options.folder = run.path("traces");
          NodeMerger merger({}, options);
          Session session(options);
          const Marker marker("work");
          record_scopes(marker, 3);
          session.close();
          merger.close();
        }) == 0);
  CHECK(run.traces() == std::vector<std::string>{"ep0-ba0-rank0.json", "node0.json"});
  CHECK(contents_of(read_file(run.path("traces/node0.json"))).size() == 3);
}

TEST_CASE("node_merger: merges while the session goes on") {
  constexpr int kRanks = 2;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    NodeMergeOptions merge = run.merge();
    merge.on_merged = [&](const NodeMerge&) { team.say(0); };
    NodeMerger merger(merge, options);
    team.meet();
    Session session(options);
    train(session, 2);
    team.wait(0);
  });
  CHECK(codes == std::vector<int>(kRanks, 0));
  CHECK(run.merged() == std::vector<std::string>{"node1/ep0-ba2.json"});
}

TEST_CASE("node_merger: a name that exists gets a number, or is replaced where that is allowed") {
  for (const bool overwrite : {false, true}) {
    CAPTURE(overwrite);
    const NodeRun run(1);
    const std::string there = run.folder().write("merged/all.json.gz", "of somebody else");
    CHECK(run_child([&] {
            Options options = run.session(0);
            options.overwrite = overwrite;
            NodeMergeOptions merge = run.merge();
            merge.file_name = "all.json.gz";
            NodeMerger merger(merge, options);
            Session session(options);
            train(session, 4);
          }) == 0);
    if (overwrite) {
      CHECK(run.merged() == std::vector<std::string>{"all.json.gz"});
      CHECK(read_file(there).starts_with("\x1f\x8b"));
      CHECK(run.told() ==
            "0: 1 ranks, all.json.gz, batch 2: \n1: 1 ranks, all.json.gz, batch 4: \n");
    } else {
      CHECK(run.merged() == std::vector<std::string>{"all-2.json.gz", "all.json.gz"});
      CHECK(read_file(there) == "of somebody else");
      CHECK(run.told() ==
            "0: 1 ranks, all-2.json.gz, batch 2: \n1: 1 ranks, all-2.json.gz, batch 4: \n");
    }
  }
}

TEST_CASE("node_merger: the name of what is merged may be as long as a name can be") {
  const NodeRun run(1);
  const std::string name = std::string(247, 'n') + ".json.gz";
  static_cast<void>(run.folder().write("merged/" + name, "of somebody else"));
  CHECK(run_child([&] {
          Options options = run.session(0);
          NodeMergeOptions merge = run.merge();
          merge.file_name = name;
          NodeMerger merger(merge, options);
          Session session(options);
          train(session, 4);
        }) == 0);
  const std::string second = std::string(245, 'n') + "-2.json.gz";
  CHECK(run.merged() == std::vector<std::string>{second, name});
  CHECK(run.told() ==
        fmt::format("0: 1 ranks, {0}, batch 2: \n1: 1 ranks, {0}, batch 4: \n", second));
}
