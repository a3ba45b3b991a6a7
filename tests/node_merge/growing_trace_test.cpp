// These tests check the one trace of a node that grows by every cycle.
#include "node_merge/node_run.h"
#include "node_merge/node_team.h"
#include "output/file_sink.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace fs = std::filesystem;

TEST_CASE("node_merger: one trace a node has all cycles, beside those of the ranks") {
  constexpr int kRanks = 2;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    options.barrier = [&] { team.meet(); };
    NodeMerger merger(run.growing(), options);
    Session session(options);
    train(session, 6);
    session.close();
    merger.close();
    if (!session.status().last_error.empty()) _exit(3);
  });
  CHECK(codes == std::vector<int>(kRanks, 0));
  CHECK(run.told() ==
        "0: 2 ranks, node1.json, batch 2: \n"
        "1: 2 ranks, node1.json, batch 4: \n"
        "2: 2 ranks, node1.json, batch 6: \n");
  CHECK(run.traces() == std::vector<std::string>{"ep0-ba2-rank4.json", "ep0-ba2-rank5.json",
                                                 "ep0-ba4-rank4.json", "ep0-ba4-rank5.json",
                                                 "ep0-ba6-rank4.json", "ep0-ba6-rank5.json",
                                                 "node1.json"});
  const std::string all = run.merge_of({run.trace(2, 0), run.trace(2, 1), run.trace(4, 0),
                                        run.trace(4, 1), run.trace(6, 0), run.trace(6, 1)});
  const std::string merged = read_file(run.path("traces/node1.json"));
  CHECK(contents_of(merged).size() == 12);
  CHECK(contents_of(merged) == contents_of(all));
}

TEST_CASE(
    "node_merger: what the session deletes, or replaces by the next cycle, is merged all the "
    "same") {
  for (const bool overwrite : {false, true}) {
    CAPTURE(overwrite);
    constexpr int kRanks = 2;
    const NodeRun run(kRanks);
    NodeTeam team(kRanks);
    const std::vector<int> codes = team.run([&](int rank) {
      Options options = run.session(rank);
      options.num_traces_to_keep = overwrite ? -1 : 1;
      options.overwrite = overwrite;
      if (overwrite)
        options.file_name = [rank](const Position&) {
          return fmt::format("rank{}.json", 4 + rank);
        };
      NodeMerger merger(run.growing(), options);
      team.meet();
      Session session(options);
      if (rank == 1) team.wait(0);  // so that the first one merges when most are gone
      train(session, 8);
      session.close();
      if (rank == 0) team.say(0);
    });
    CHECK(codes == std::vector<int>(kRanks, 0));
    CHECK(run.told() ==
          "0: 2 ranks, node1.json, batch 2: \n"
          "1: 2 ranks, node1.json, batch 4: \n"
          "2: 2 ranks, node1.json, batch 6: \n"
          "3: 2 ranks, node1.json, batch 8: \n");
    const auto left = overwrite ? std::vector<std::string>{"node1.json", "rank4.json", "rank5.json"}
                                : std::vector<std::string>{"ep0-ba8-rank4.json",
                                                           "ep0-ba8-rank5.json", "node1.json"};
    CHECK(run.traces() == left);  // nor is any kept file left
    const std::vector<std::string> merged = contents_of(read_file(run.path("traces/node1.json")));
    CHECK(merged.size() == 16);
    std::size_t of_rank_5 = 0;
    for (const std::string& event : merged)
      of_rank_5 += event.find("\"pid\":5,") != std::string::npos ? 1 : 0;
    CHECK(of_rank_5 == 8);
  }
}

// If the names of files do not show their cycle, each was taken for the first cycle and placed by
// its clock.
TEST_CASE("node_merger: cycles of one file name, which replace each other, keep their own clocks") {
  constexpr int kRanks = 2;
  constexpr int kCycles = 4;
  const NodeRun run(kRanks);
  NodeTeam team(kRanks);
  const std::vector<int> codes = team.run([&](int rank) {
    Options options = run.session(rank);
    options.barrier = [&] { team.meet(); };
    options.overwrite = true;
    options.file_name = [rank](const Position&) { return fmt::format("rank{}.json", 4 + rank); };
    NodeMergeOptions merge = run.growing();
    std::atomic<int> merged = 0;
    merge.on_merged = [&, tell = merge.on_merged](const NodeMerge& cycle) {
      tell(cycle);
      ++merged;
    };
    NodeMerger merger(std::move(merge), options);
    Session session(options);
    static const Marker marker("event/batch");
    Position at;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      for (int batch = 0; batch < 2; ++batch)
        run_batch(session, at, [&] { record_scopes(marker, 1); });
      if (rank == 0)
        while (merged <= cycle) std::this_thread::yield();  // each is a merge of its own
      team.meet();
    }
    session.close();
    merger.close();
    if (!session.status().last_error.empty()) _exit(3);
  });
  CHECK(codes == std::vector<int>(kRanks, 0));
  CHECK(run.told() ==
        "0: 2 ranks, node1.json, batch 2: \n"
        "1: 2 ranks, node1.json, batch 4: \n"
        "2: 2 ranks, node1.json, batch 6: \n"
        "3: 2 ranks, node1.json, batch 8: \n");
  const Events batches = Events(read_file(run.path("traces/node1.json"))).of("event/batch", "X");
  REQUIRE(batches.size() == 2 * kCycles * kRanks);
  // No rank begins a cycle before the others have ended the one before.
  std::array<std::int64_t, kCycles> first_ns{};
  std::array<std::int64_t, kCycles> last_ns{};
  first_ns.fill(std::numeric_limits<std::int64_t>::max());
  for (const std::string& batch : batches) {
    const auto cycle = static_cast<std::size_t>(nanoseconds(batch, "batch") / 2000);
    first_ns.at(cycle) = std::min(first_ns.at(cycle), nanoseconds(batch, "ts"));
    last_ns.at(cycle) = std::max(last_ns.at(cycle), nanoseconds(batch, "ts"));
  }
  for (std::size_t cycle = 1; cycle < kCycles; ++cycle)
    CHECK(last_ns.at(cycle - 1) < first_ns.at(cycle));
}

TEST_CASE("node_merger: a marker that lasts as long as the cycles is one slice of the trace") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          options.num_traces_to_keep = 0;
          NodeMerger merger(run.growing(), options);
          Session session(options);
          MarkerOptions is_long;
          is_long.long_running = true;
          const Marker epoch("event/epoch", "", is_long);
          {
            const Scope scope(epoch);
            train(session, 6);
          }
          session.close();
          merger.close();
        }) == 0);
  const std::string merged = read_file(run.path("traces/node1.json"));
  const Events events(merged);
  CHECK(events.with("\"name\":\"event/epoch\"").size() == 1);
  CHECK(events.count("event/epoch", "X") == 1);
  CHECK(events.count("event/batch", "X") == 6);
  CHECK(merged.find("unclosed") == std::string::npos);
  CHECK(run.traces() == std::vector<std::string>{"node1.json"});
}

TEST_CASE("node_merger: a trace that grows keeps off what is not its own") {
  for (const bool overwrite : {false, true}) {
    CAPTURE(overwrite);
    const NodeRun run(1);
    static_cast<void>(run.folder().write("merged/node1.json.gz", "of somebody else"));
    CHECK(run_child([&] {
            Options options = run.session(0);
            options.overwrite = overwrite;
            NodeMergeOptions merge = run.growing();
            merge.folder = run.path("{run_name}/../merged");  // for a run called "merged/.."
            merge.run_name = "traces";
            merge.file_name = "node{node_rank}.json.gz";
            NodeMerger merger(merge, options);
            Session session(options);
            train(session, 4);
          }) == 0);
    const std::string name = overwrite ? "node1.json.gz" : "node1-2.json.gz";
    CHECK(run.told() == fmt::format("0: 1 ranks, ../merged/{0}, batch 2: \n"
                                    "1: 1 ranks, ../merged/{0}, batch 4: \n",
                                    name));
    CHECK(contents_of(read_trace(run.path("merged/" + name))).size() == 4);
    if (!overwrite) CHECK(read_file(run.path("merged/node1.json.gz")) == "of somebody else");
    CHECK(run.merged().size() == (overwrite ? 1 : 2));
  }
}

TEST_CASE("node_merger: what killed mergers have left is removed, and nothing else") {
  const NodeRun run(1);
  static_cast<void>(run.folder().write("traces/.4711-node1.json", "not renamed"));
  static_cast<void>(run.folder().write("traces/.4712-node1.json", "not renamed yet"));
  static_cast<void>(run.folder().write("traces/.4713-other.json", "of somebody else"));
  for (const char* const name : {"traces/.4711-node1.json", "traces/.4713-other.json"})
    fs::last_write_time(run.path(name), fs::file_time_type::clock::now() - std::chrono::hours(1));
  const int killed = wait_for(start_child([&] {
    const Replacement merge("", run.path(fmt::format("traces/.{}-node1.json", getpid())), {});
    raise(SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(killed));
  const Replacement at_work("", run.path("traces/.1-node1.json"), {});
  REQUIRE(run.traces().size() == 5);
  CHECK(run_child([&] {
          Options options = run.session(0);
          NodeMerger merger(run.growing(), options);
          Session session(options);
          train(session, 2);
        }) == 0);
  CHECK(run.traces() == std::vector<std::string>{fs::path(at_work.temporary()).filename(),
                                                 ".4712-node1.json", ".4713-other.json",
                                                 "ep0-ba2-rank4.json", "node1.json"});
}

TEST_CASE("node_merger: where somebody took away what was merged, the rest is told") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          NodeMergeOptions merge = run.growing();
          merge.on_merged = [&, tell = merge.on_merged](const NodeMerge& cycle) {
            tell(cycle);
            if (cycle.cycle == 0) fs::remove(cycle.path);
          };
          NodeMerger merger(merge, options);
          Session session(options);
          train(session, 2);
          while (!fs::exists(run.path("told.txt")) || fs::exists(run.path("traces/node1.json")))
            std::this_thread::yield();
          Position at;
          at.batch = 2;
          static const Marker marker("event/batch");
          for (int i = 0; i < 2; ++i) run_batch(session, at, [&] { record_scopes(marker, 1); });
        }) == 0);
  CHECK(run.told() ==
        fmt::format("0: 1 ranks, node1.json, batch 2: \n"
                    "1: 1 ranks, node1.json, batch 4: {} is not there as it was merged last; what "
                    "it held of earlier cycles is not in this one\n",
                    run.path("traces/node1.json")));
  CHECK(contents_of(read_file(run.path("traces/node1.json"))).size() == 2);
}
