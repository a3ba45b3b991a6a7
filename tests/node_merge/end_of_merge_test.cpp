// These tests check callbacks of a merge, and how it ends with its session or process.
#include "node_merge/node_run.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

using namespace traceloom;
using namespace traceloom::record;

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

TEST_CASE("node_merger: options that are used again belong to the new merger alone") {
  const NodeRun run(1);
  CHECK(run_child([&] {
          Options options = run.session(0);
          options.overwrite = true;
          for (int i = 0; i < 2; ++i) {
            NodeMerger merger(run.merge(), options);
            Session session(options);
            train(session, 2);
            if (!session.close().last_error.empty()) _exit(1 + i);
          }
        }) == 0);
  CHECK(run.told() ==
        "0: 1 ranks, node1/ep0-ba2.json, batch 2: \n"
        "0: 1 ranks, node1/ep0-ba2.json, batch 2: \n");
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
