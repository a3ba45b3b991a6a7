// trace-merge --recover, with processes that are really killed.
#include "trace_merge/recover_inputs.h"

#include "base/problems.h"
#include "record/recorded.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Words = std::vector<std::string>;

// A rank that records 50 scopes, and is killed before anything of them is written.
void record_and_die(const TemporaryFolder& folder, std::int64_t rank, const std::string& traces) {
  const pid_t child = start_child([&] {
    Options options;
    options.rank = rank;
    options.folder = folder.path(traces);
    options.journal_folder = folder.path("journals");
    options.flush_ms = 60'000;
    const Session session(options);
    static const Marker marker("work");
    for (int i = 0; i < 50; ++i) const Scope scope(marker);
    kill(getpid(), SIGKILL);
  });
  const int status = wait_for(child);
  REQUIRE(WIFSIGNALED(status));
}

// Returns messages without the folder's path.
Words without(const TemporaryFolder& folder, const Words& lines) {
  Words result;
  for (std::string line : lines) {
    for (std::size_t at = 0; (at = line.find(folder.path() + "/")) != std::string::npos;)
      line.erase(at, folder.path().size() + 1);
    if (const std::size_t at = line.find("journals/traceloom-"); at != std::string::npos)
      line.erase(line.find('-', line.find("rank", at)));  // the number of the process
    result.push_back(line);
  }
  return result;
}

}  // namespace

TEST_CASE("recover_inputs: journals of killed ranks complete the traces in another folder") {
  const TemporaryFolder folder;
  record_and_die(folder, 0, "traces");
  record_and_die(folder, 1, "traces");
  const RecoveredInputs recovered =
      recover_inputs({folder.path("journals"), folder.path("traces")});
  CHECK(without(folder, recovered.notes) ==
        Words{"traces/ep0-ba0-rank0.json: completed with 50 events of journals/traceloom-rank0",
              "traces/ep0-ba0-rank1.json: completed with 50 events of journals/traceloom-rank1"});
  CHECK(recovered.problems.empty());
  CHECK(recovered.arguments == Words{folder.path("traces")});
  for (const char* const name : {"traces/ep0-ba0-rank0.json", "traces/ep0-ba0-rank1.json"}) {
    const std::string text = read_trace(folder.path(name));
    CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
    CHECK(Events(text).count("work", "X") == 50);
  }
  const RecoveredInputs again = recover_inputs({folder.path("journals"), folder.path("traces")});
  CHECK(without(folder, again.notes) ==
        Words{"--recover: found no journal of a dead process", "--recover: no trace in journals"});
  CHECK(again.arguments == Words{folder.path("traces")});
  CHECK_FALSE(again.has_nothing);
}

TEST_CASE("recover_inputs: where nothing is, there is nothing to merge") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("journals"));
  const RecoveredInputs recovered = recover_inputs({folder.path("journals"), folder.path()});
  CHECK(recovered.notes == Words{"--recover: found no journal of a dead process"});
  CHECK(recovered.has_nothing);
}

TEST_CASE(
    "recover_inputs: a trace in a folder that no argument names stays, and so does its journal") {
  const TemporaryFolder folder;
  record_and_die(folder, 0, "one");
  record_and_die(folder, 1, "two");
  const RecoveredInputs recovered = recover_inputs({folder.path("journals"), folder.path("one")});
  CHECK(recovered.arguments == Words{folder.path("one")});
  CHECK(without(folder, recovered.notes) ==
        Words{"one/ep0-ba0-rank0.json: completed with 50 events of journals/traceloom-rank0"});
  REQUIRE(recovered.problems.size() == 1);
  CHECK(recovered.problems[0].ends_with(
      ": cannot be recovered: its trace is in " + folder.path("two") +
      ", which is no folder that was named; trace-merge --recover " + folder.path("journals") +
      " " + folder.path("two") + " completes it"));
  REQUIRE(recovered.kept.size() == 1);
  CHECK(recovered.kept[0].path + ": cannot be recovered: " + recovered.kept[0].problem ==
        recovered.problems[0]);
  const RecoveredInputs both = recover_inputs({folder.path("journals"), folder.path("two")});
  CHECK(both.problems.empty());
  CHECK(both.arguments == Words{folder.path("two")});
}

TEST_CASE("recover_inputs: journals are found below a folder, but not in hidden ones") {
  const TemporaryFolder folder;
  record_and_die(folder, 0, "traces");
  std::filesystem::rename(folder.path("journals"), folder.path(".journals"));
  CHECK(recover_inputs({folder.path()}).notes ==
        Words{"--recover: found no journal of a dead process"});
  std::filesystem::rename(folder.path(".journals"), folder.path("traces/journals"));
  const RecoveredInputs recovered = recover_inputs({folder.path()});
  CHECK(recovered.notes.size() == 1);
  CHECK(recovered.arguments == Words{folder.path()});
  CHECK(Events(read_trace(folder.path("traces/ep0-ba0-rank0.json"))).count("work", "X") == 50);
}

TEST_CASE("recover_inputs: a journal that cannot be used is reported, and stays") {
  const TemporaryFolder folder;
  record_and_die(folder, 0, "traces");
  // The folder that the trace would go to is a file now.
  std::filesystem::remove_all(folder.path("traces"));
  folder.write("traces", "");
  const RecoveredInputs recovered = recover_inputs({folder.path()});
  CHECK(recovered.notes.empty());
  REQUIRE(recovered.problems.size() == 1);
  CHECK(recovered.problems[0].find(": cannot be recovered: ") != std::string::npos);
  CHECK(recovered.problems[0].ends_with("Not a directory"));
  CHECK(recovered.arguments == Words{folder.path()});
  CHECK(std::filesystem::exists(folder.path("journals")));
  CHECK_FALSE(std::filesystem::is_empty(folder.path("journals")));
}

TEST_CASE("recover_inputs: without a folder there is nothing to look into") {
  CHECK_THROWS_WITH_AS(recover_inputs({"rank0.json"}),
                       "--recover: no input is a folder; name the one that holds the journals, and "
                       "the traces",
                       UsageError);
}
