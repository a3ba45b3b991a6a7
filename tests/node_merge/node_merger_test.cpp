#include "node_merge/node_merger.h"

#include "base/error.h"
#include "merge/merger.h"
#include "node_merge/node_team.h"
#include "record/recorded.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;

// Returns everything in a folder and below it, hidden or not.
std::vector<std::string> all_files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
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
    NodeMergeOptions options;
    options.folder = path("merged");
    options.file_name = "node{node_rank}/ep{epoch}-ba{batch}.json";  // one a cycle
    options.patience_ms = 3'600'000;  // a busy machine is no broken one
    options.on_merged = [this](const NodeMerge& merge) {
      std::ofstream(path("told.txt"), std::ios::app) << fmt::format(
          "{}: {} ranks, {}, batch {}: {}\n", merge.cycle, merge.ranks,
          merge.path.empty() ? "none" : fs::relative(merge.path, path("merged")).string(),
          merge.position.batch, merge.problem);
    };
    return options;
  }
  // Returns options for one trace of all cycles, next to those of the ranks.
  NodeMergeOptions growing() const {
    NodeMergeOptions options;
    options.patience_ms = 3'600'000;
    options.on_merged = [this](const NodeMerge& merge) {
      std::ofstream(path("told.txt"), std::ios::app) << fmt::format(
          "{}: {} ranks, {}, batch {}: {}\n", merge.cycle, merge.ranks,
          merge.path.empty() ? "none" : fs::relative(merge.path, path("traces")).string(),
          merge.position.batch, merge.problem);
    };
    return options;
  }
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
  int ranks_;
  TemporaryFolder folder_;
};

// Returns each X of a trace, without its time: the contents, whatever clock it is on.
std::vector<std::string> contents_of(const std::string& trace) {
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
void train(Session& session, int batches) {
  static const Marker marker("event/batch");
  run_batches(session, marker, batches);
}

}  // namespace

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

TEST_CASE("node_merger: what was on_saved before is called first; on_merged may close and throw") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          // The callback writes into the file itself: the file is noted as it is then, also if the
          // callback fails in the end.
          options.on_saved = [](const SavedTrace& trace) {
            std::ofstream(trace.path, std::ios::app) << "\n";
            if (trace.position.batch == 2) throw std::runtime_error("no room for a copy");
          };
          NodeMergeOptions merge = run.merge();
          NodeMerger* made = nullptr;
          merge.on_merged = [&, tell = merge.on_merged](const NodeMerge& cycle) {
            made->close();
            tell(cycle);
            throw std::runtime_error("nobody hears it");
          };
          NodeMerger merger(merge, options);
          made = &merger;
          Session session(options);
          train(session, 4);
          session.close();
          merger.close();
          merger.close();
        }) == 0);
  CHECK(run.told() ==
        "0: 1 ranks, node1/ep0-ba2.json, batch 2: \n"
        "1: 1 ranks, node1/ep0-ba4.json, batch 4: \n");
}

TEST_CASE("node_merger: a trace that is saved after it was closed is told by the session") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          NodeMerger merger(run.merge(), options);
          Session session(options);
          merger.close();
          train(session, 2);
          session.close();
          const std::string expected =
              run.trace(2, 0) + ": saved after the merge per node was closed; it is not merged";
          _exit(session.status().last_error == expected ? 0 : 1);
        }) == 0);
}

TEST_CASE("node_merger: what is open is merged when the process exits") {
  const NodeRun run(1);
  static std::unique_ptr<NodeMerger> merger;
  static std::unique_ptr<Session> session;
  static void (*registered_first)() = [] {};
  SUBCASE("nothing is closed") {}
  SUBCASE("a handler closes, that was registered before anything was merged") {
    registered_first = [] {
      session.reset();
      merger.reset();
    };
  }
  SUBCASE("a session came before") {
    Options options = run.session(0);
    options.folder = run.path("other");
    Session(options).close();
  }
  CHECK(run_child([&] {
          std::atexit([] { registered_first(); });
          Options options = run.session(0);
          merger = std::make_unique<NodeMerger>(run.merge(), options);
          session = std::make_unique<Session>(options);
          train(*session, 3);
          std::exit(5);
        }) == 5);
  CHECK(run.told() ==
        "0: 1 ranks, node1/ep0-ba2.json, batch 2: \n1: 1 ranks, node1/ep0-ba3.json, batch 3: \n");
}

TEST_CASE("node_merger: a child of fork() leaves it alone") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          auto merger = std::make_unique<NodeMerger>(run.merge(), options);
          Session session(options);
          const int code = run_child([&] {
            merger->close();
            merger.reset();
            _exit(7);
          });
          train(session, 2);
          session.close();
          merger->close();
          _exit(code);
        }) == 7);
  CHECK(run.told() == "0: 1 ranks, node1/ep0-ba2.json, batch 2: \n");
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
