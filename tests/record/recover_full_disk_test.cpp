// These tests recover without room: everything stays as it was, and the recovery can be tried
// again.
#include "record/dead_journals.h"
#include "record/files/trace_file.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "support/child_process.h"
#include "support/small_disk.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint32_t kScopes = 2000;  // some 240 kB of text

struct Folders {
  TemporaryFolder journals;
  TemporaryFolder traces;
};

std::vector<RecoveredTrace> recover(const Folders& folders) {
  return recover_journals(folders.journals.path(), {folders.traces.path()});
}

// Recovers with a disk that has no room for it; returns 0 if the trace's folder then has `names`,
// and the journal is as it was.
int fail_to_recover(const Folders& folders, const std::string& journal, const Names& names,
                    const std::string& kept) {
  const std::string before = read_file(journal);
  const std::vector<RecoveredTrace> recovered = recover(folders);
  if (recovered.size() != 1 || !recovered[0].path.empty()) return 91;
  if (!recovered[0].problem.ends_with(": No space left on device") &&
      !recovered[0].problem.ends_with(": File too large"))
    return 92;
  if (files_in(folders.traces.path()) != names) return 93;
  if (!names.empty() && read_file(folders.traces.path(names[0])) != kept) return 94;
  return read_file(journal) == before ? 0 : 95;
}

void check_whole(const RecoveredTrace& result, const std::string& path) {
  CHECK(result.problem == "");
  CHECK(result.path == path);
  CHECK(result.events == kScopes + 1);
  CHECK(Events::of_file(path).count("work", "X") == kScopes);
  const std::string text = read_trace(path);
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
}

}  // namespace

TEST_CASE("recover on a full disk: no trace is left, the journal is, and it works with room") {
  for (const char* const ending : {".json", ".json.gz", ".json.zst"}) {
    CAPTURE(ending);
    const Folders folders;
    const std::string trace = folders.traces.path(std::string("ep0-ba0-rank0.unfinished") + ending);
    const std::string journal =
        leave_journal({.folder = folders.journals.path(), .trace = trace, .events = kScopes});
    // The limits leave room for half a text (packed it would fit), a little, and none at all.
    const bool is_plain = std::string_view(ending) == ".json";
    for (const rlim_t bytes : {is_plain ? 100'000 : 1500, 1500, 0})
      CHECK(run_child([&] {
              limit_file_size(bytes);
              _exit(fail_to_recover(folders, journal, {}, ""));
            }) == 0);
    const int code = run_child([&] {
      if (!mount_small_disk(folders.traces.path(), 4096)) _exit(kNoSmallDisk);
      // It takes the only page: a packed trace would fit in.
      static_cast<void>(folders.traces.write("other", "text"));
      _exit(fail_to_recover(folders, journal, {"other"}, "text"));
    });
    if (code == kNoSmallDisk)
      MESSAGE("skipped: nothing may be mounted here");
    else
      CHECK(code == 0);
    const std::vector<RecoveredTrace> recovered = recover(folders);
    REQUIRE(recovered.size() == 1);
    const std::string name = std::string("ep0-ba0-rank0") + ending;
    check_whole(recovered[0], folders.traces.path(name));
    CHECK(files_in(folders.traces.path()) == Names{name});
    CHECK_FALSE(fs::exists(journal));
  }
}

TEST_CASE("recover on a full disk: a trace that was begun keeps what it had") {
  const Folders folders;
  const std::string trace = folders.traces.path("ep0-ba0-rank0.unfinished.json");
  const std::string begun =
      "[\n{\"name\":\"global_rank\",\"ph\":\"M\",\"ts\":0,\"pid\":0,\"tid\":0,\"args\":{"
      "\"value\":0}}";
  std::ofstream(trace) << begun << ",\n{\"name\":\"half";
  record::FileState state;
  state.bytes = state.text_bytes = begun.size();
  state.inode = inode_of(trace);
  const std::string journal = leave_journal({folders.journals.path(), trace, state, kScopes});
  for (const rlim_t bytes : {100'000, 150})
    CHECK(run_child([&] {
            limit_file_size(bytes);
            _exit(fail_to_recover(folders, journal, {"ep0-ba0-rank0.unfinished.json"}, begun));
          }) == 0);
  const std::vector<RecoveredTrace> recovered = recover(folders);
  REQUIRE(recovered.size() == 1);
  check_whole(recovered[0], folders.traces.path("ep0-ba0-rank0.json"));
  CHECK(files_in(folders.traces.path()) == Names{"ep0-ba0-rank0.json"});
}

TEST_CASE(
    "recover on a full disk: a trace without anything that is committed is there until then") {
  const Folders folders;
  const std::string trace = folders.traces.path("ep0-ba0-rank0.unfinished.json");
  std::ofstream(trace) << "[\n{\"name\":\"half";
  record::FileState state;
  state.inode = inode_of(trace);
  const std::string journal = leave_journal({folders.journals.path(), trace, state, kScopes});
  CHECK(run_child([&] {
          limit_file_size(100'000);
          _exit(fail_to_recover(folders, journal, {"ep0-ba0-rank0.unfinished.json"},
                                "[\n{\"name\":\"half"));
        }) == 0);
  const std::vector<RecoveredTrace> recovered = recover(folders);
  REQUIRE(recovered.size() == 1);
  check_whole(recovered[0], folders.traces.path("ep0-ba0-rank0.json"));
  CHECK(files_in(folders.traces.path()) == Names{"ep0-ba0-rank0.json"});
}
