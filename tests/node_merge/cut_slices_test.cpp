// These tests check what a merge makes of a long-running marker that saves have cut.
#include "merge/merger.h"
#include "record/recorded.h"

#include <utility>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE(
    "node_merger: after a merge a long-running marker over saves is one slice, and no problem") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position& at) {
    return at.batch < 4 ? Action::active_and_save : Action::skip;
  };
  Session session(options);
  const Marker epoch("event/epoch", "", {.long_running = true});
  const Marker work("work");
  Position position;
  {
    const Scope scope(epoch);
    for (int batch = 0; batch < 4; ++batch)
      run_batch(session, position, [&] { record_scopes(work, 10); });
  }
  session.close();
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == 5);  // the session did not know how many batches there are
  const auto merge = [&](std::size_t files) {
    MergeOptions merged;
    for (std::size_t i = 0; i < files; ++i) merged.inputs.push_back({saved[i].path, {}});
    merged.output = folder.path("merged.json");
    merged.threads = 1;
    const MergeSummary summary = merge_traces(merged);
    for (const MergedFile& file : summary.files) CHECK(file.problems.empty());
    return std::pair(summary.events, read_file(merged.output));
  };
  const auto [events, text] = merge(5);
  CHECK(events == 41);
  CHECK(Events(text).count("event/epoch", "X") == 1);
  CHECK(text.find("unclosed") == std::string::npos);
  const auto [part_events, part] = merge(2);
  CHECK(part_events == 21);
  CHECK(Events(part).count("event/epoch", "X") == 1);
  CHECK(part.find(R"("unclosed": "cut")") != std::string::npos);
}
