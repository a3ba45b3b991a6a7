// These tests check when a trace file gets its name, and what is in the folder before.
#include "record/files/trace_file.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "record/trace_handler.h"
#include "support/child_process.h"
#include "support/refused_calls.h"

#include <atomic>
#include <fstream>
#include <memory>
#include <sys/mman.h>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr char kLine[] = "[\n{\"name\":\"a\",\"ph\":\"i\",\"ts\":1}";

// Runs the test where the system can do everything, and where it can do less.
template <typename Work>
void in_all_systems(const Work& work) {
  CHECK(run_child([&] { _exit(work()); }) == 0);
  CHECK(run_child([&] {
          refuse_nameless_files();
          _exit(work());
        }) == 0);
  CHECK(run_child([&] {
          refuse_links();
          _exit(work());
        }) == 0);
  CHECK(run_child([&] {
          refuse_nameless_files();
          refuse_careful_renames();
          _exit(work());
        }) == 0);
}

// Puts somebody else's file where the session is about to have its own, once.
class NameThief : public TraceHandler {
 public:
  void begin_cycle(const CycleInfo& cycle) override {
    if (stolen.empty()) std::ofstream(stolen = cycle.path) << "of somebody else";
  }

  std::string stolen;
};

}  // namespace

TEST_CASE("trace_file: has its name when the first text is in it, and no other name before") {
  for (const std::string name : {"rank0.json", "rank0.json.gz"}) {
    CAPTURE(name);
    in_all_systems([&] {
      const TemporaryFolder folder;
      {
        TraceFile file(folder.path(name), 1);
        if (!visible_files_in(folder.path()).empty()) return 1;
        file.write(kLine);
        if (files_in(folder.path()) != std::vector<std::string>{name}) return 2;
        if (read_trace(folder.path(name)) != kLine) return 3;
        if (inode_of(folder.path(name)) != file.state().inode) return 4;
        file.write("\n]\n");
        if (file.finish(folder.path("last.json"), false) != folder.path("last.json")) return 5;
      }
      return files_in(folder.path()) == std::vector<std::string>{"last.json"} ? 0 : 6;
    });
  }
}

TEST_CASE("trace_file: one that gets no text leaves nothing") {
  in_all_systems([] {
    const TemporaryFolder folder;
    {
      TraceFile file(folder.path("rank0.json.gz"), 1);
      if (!file.finish(folder.path("last.json.gz"), true).empty()) return 1;
    }
    { const TraceFile file(folder.path("rank0.json"), 1); }
    return files_in(folder.path()).empty() ? 0 : 2;
  });
}

TEST_CASE("trace_file: of two that want a name the first to write gets it, for good") {
  in_all_systems([] {
    const TemporaryFolder folder;
    const std::string path = folder.path("rank0.json");
    TraceFile first(path, 1);
    TraceFile second(path, 1);
    second.write(kLine);
    const auto refusal = [&] {
      try {
        first.write("[\n{}");
      } catch (const std::exception& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    if (refusal() != path + ": File exists" || !first.is_refused()) return 1;
    if (read_file(path) != kLine) return 2;
    second.finish(folder.path("last.json"), false);
    // The name is free now, and the file that would get it lacks its begin.
    if (refusal() != path + ": File exists") return 3;
    if (!first.finish(path, true).empty()) return 4;
    return visible_files_in(folder.path()) == std::vector<std::string>{"last.json"} ? 0 : 5;
  });
}

TEST_CASE("trace_file: a last name that exists gets a number, or is replaced") {
  in_all_systems([] {
    const TemporaryFolder folder;
    const std::string last = folder.write("last.json", "of an earlier run");
    TraceFile file(folder.path("rank0.json"), 1);
    file.write(kLine);
    if (file.finish(last, false) != folder.path("last-2.json")) return 1;
    if (read_file(last) != "of an earlier run") return 2;
    TraceFile other(folder.path("rank0.json"), 1);
    other.write("[\n{}");
    if (other.finish(last, true) != last) return 3;
    return read_file(last) == "[\n{}" && files_in(folder.path()).size() == 2 ? 0 : 4;
  });
}

TEST_CASE("trace_file: where the name is taken it asks for another, and gets that") {
  in_all_systems([] {
    const TemporaryFolder folder;
    const std::string taken = folder.write("rank0.json", "of somebody else");
    const std::string also = folder.write("rank0-2.json", "of somebody else");
    unsigned asked = 1;
    {
      TraceFile file(taken, 1, [&](const record::FileState& state) {
        if (state.bytes != 0 || state.text_bytes != 0 || state.inode == 0) _exit(7);
        return numbered_path(taken, ++asked);
      });
      file.write(kLine);
      if (file.is_refused() || asked != 3) return 1;
      if (read_file(folder.path("rank0-3.json")) != kLine) return 2;
      file.finish(folder.path("last.json"), false);
    }
    if (read_file(taken) != "of somebody else" || read_file(also) != "of somebody else") return 3;
    return read_file(folder.path("last.json")) == kLine && files_in(folder.path()).size() == 3 ? 0
                                                                                               : 4;
  });
}

TEST_CASE("trace_file: a name that is too long is refused with that reason, for good") {
  in_all_systems([] {
    const TemporaryFolder folder;
    const std::string path = folder.path(std::string(300, 'n') + ".json");
    for (int i = 0; i < 2; ++i) {
      try {
        TraceFile file(path, 1);
        try {
          file.write(kLine);
          return 1;
        } catch (const std::exception&) {
          if (!file.is_refused()) return 2;
        }
        file.write(kLine);
        return 3;
      } catch (const std::exception& error) {
        if (error.what() != path + ": File name too long") return 4;
      }
    }
    return files_in(folder.path()).empty() ? 0 : 5;
  });
}

TEST_CASE("trace_file: a name that becomes too long loses the end of its stem") {
  // A name may have 255 bytes: 11 for ".unfinished", 8 for ".json.gz".
  const std::string stem(230, 'n');
  CHECK(unfinished_path("a/" + stem + "123456.json.gz") ==
        "a/" + stem + "123456.unfinished.json.gz");
  CHECK(unfinished_path("a/" + stem + "1234567.json.gz") ==
        "a/" + stem + "123456.unfinished.json.gz");
  CHECK(unfinished_path(stem + "12345678901234567.json.gz") == stem + "123456.unfinished.json.gz");
  CHECK(numbered_path(stem + "123456789012345.json.gz", 2) == stem + "123456789012345-2.json.gz");
  CHECK(numbered_path(stem + "12345678901234567.json.gz", 12) ==
        stem + "12345678901234-12.json.gz");
  // Characters are not halved, and the folder does not count.
  CHECK(unfinished_path(stem + "12345\u00E9.json.gz") == stem + "12345.unfinished.json.gz");
  CHECK(unfinished_path("a/" + std::string(255, 'n')) ==
        "a/" + std::string(244, 'n') + ".unfinished");
  // A name that is too long is refused, and with its own name.
  CHECK(unfinished_path(std::string(256, 'n') + ".json") ==
        std::string(256, 'n') + ".unfinished.json");
}

TEST_CASE("session: names as long as a name can be are kept, numbered and not lost") {
  const TemporaryFolder folder;
  const std::string name = std::string(250, 'n') + ".json";
  Options options = options_for(folder);
  options.overwrite = false;
  options.file_name = [&](const Position&) { return name; };
  Session session(options);
  record_scopes(Marker("work"), 3);
  session.flush();
  const std::string unfinished = std::string(239, 'n') + ".unfinished.json";
  CHECK(Events::of_file(folder.path(unfinished)).count("work", "X") == 3);
  CHECK(new_unfinished_path(folder.path(name)) ==
        folder.path(std::string(237, 'n') + "-2.unfinished.json"));
  folder.write(name, "of somebody else");
  session.close();
  CHECK(session.status().last_error.empty());
  CHECK(only_trace(session) == folder.path(std::string(248, 'n') + "-2.json"));
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 3);
  CHECK(files_in(folder.path()).size() == 2);
}

TEST_CASE("session: a name that is too long is told, and leaves nothing") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.file_name = [](const Position&) { return std::string(300, 'n') + ".json"; };
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  record_scopes(Marker("work"), 3);
  session.close();
  CHECK(log == std::vector<std::string>{folder.path(std::string(300, 'n') + ".unfinished.json") +
                                        ": File name too long; nothing more of this cycle is "
                                        "written"});
  CHECK(session.status().last_error == log[0]);
  CHECK(session.status().lost == 3);
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("a name that somebody else took first costs a cycle nothing") {
  const TemporaryFolder folder;
  const auto thief = std::make_shared<NameThief>();
  Options options = options_for(folder);
  options.handlers = {thief};
  options.schedule = [](const Position&) { return Action::active_and_save; };
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const Marker marker("work");
  run_batches(session, marker, 2);
  session.close();
  CHECK(log.empty());
  CHECK(read_file(thief->stolen) == "of somebody else");
  CHECK(session.status().lost == 0);
  for (const char* name : {"ep0-ba1-rank0.json", "ep0-ba2-rank0.json"})
    CHECK(Events::of_file(folder.path(name)).count("work", "X") == 1);
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.unfinished.json",
                                                            "ep0-ba1-rank0.json",
                                                            "ep0-ba2-rank0.json"});
}

TEST_CASE("runs that begin in one folder at a time keep all of their cycles") {
  constexpr int kRuns = 3;
  const TemporaryFolder folder;
  void* const shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& entered = *new (shared) std::atomic<int>{0};
  // This handler runs after the JSON files: each run has chosen its name, and none has it.
  class Meeting : public TraceHandler {
   public:
    explicit Meeting(std::atomic<int>& entered) : entered_(entered) {}
    void begin_cycle(const CycleInfo& /*cycle*/) override {
      ++entered_;
      while (entered_ < kRuns) std::this_thread::yield();
    }

   private:
    std::atomic<int>& entered_;
  };
  Options options;
  options.folder = folder.path();
  std::vector<pid_t> children;
  for (int run = 0; run < kRuns; ++run) {
    children.push_back(start_child([&] {
      options.handlers = {std::make_shared<Meeting>(entered)};
      Session session(options);
      record_scopes(Marker("work"), 5);
      session.close();
      _exit(session.status().last_error.empty() && session.status().lost == 0 ? 0 : 1);
    }));
  }
  for (const pid_t child : children) {
    const int status = wait_for(child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  munmap(shared, sizeof(std::atomic<int>));
  const std::vector<std::string> names{"ep0-ba0-rank0-2.json", "ep0-ba0-rank0-3.json",
                                       "ep0-ba0-rank0.json"};
  CHECK(files_in(folder.path()) == names);
  for (const std::string& name : names)
    CHECK(Events::of_file(folder.path(name)).count("work", "X") == 5);
}

TEST_CASE("journal: knows of the other name that a file got because its own was taken") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  Options options = options_for(folder);
  options.journal_folder = journals.path();
  const auto status = wait_for(start_child([&] {
    options.handlers = {std::make_shared<NameThief>()};
    Session session(options);
    record_scopes(Marker("work"), 4);
    session.flush();
    raise(SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(status));
  const std::vector<RecoveredTrace> recovered = recover_journals(journals.path(), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem == "");
  CHECK(recovered[0].path == folder.path("ep0-ba0-rank0-2.json"));
  CHECK(Events::of_file(recovered[0].path).count("work", "X") == 4);
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"ep0-ba0-rank0-2.json", "ep0-ba0-rank0.unfinished.json"});
}

TEST_CASE("kill at the moment of naming: nothing that looks like a trace is left") {
  for (const std::string name : {"rank0.json", "rank0.json.gz"}) {
    for (const bool has_nameless : {true, false}) {
      CAPTURE(name);
      CAPTURE(has_nameless);
      const TemporaryFolder folder;
      Options options = options_for(folder);
      options.file_name = [&](const Position&) { return std::string(name); };
      const int status = wait_for(start_child([&] {
        if (!has_nameless) refuse_nameless_files();
        die_at_naming();
        Session session(options);
        session.flush();
      }));
      CHECK(WIFSIGNALED(status));
      CHECK(visible_files_in(folder.path()).empty());
    }
  }
}

TEST_CASE("journal: a file that somebody else put where the killed process had none is kept") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  const std::string path = folder.path("ep0-ba0-rank0.unfinished.json");
  void* const shared = mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& is_done = *new (shared) std::atomic<bool>{false};
  class Sleeper : public TraceHandler {
   public:
    void begin_cycle(const CycleInfo& /*cycle*/) override {
      while (true) pause();
    }
  };
  Options options = options_for(folder);
  options.journal_folder = journals.path();
  const pid_t child = start_child([&] {
    options.handlers = {std::make_shared<Sleeper>()};
    Session session(options);
    const Marker marker("work");
    for (int i = 0; i < 5; ++i) const Scope scope(marker);
    is_done = true;
    while (true) pause();
  });
  while (!is_done) std::this_thread::yield();
  std::ofstream(path) << "of somebody else";
  kill_child(child);
  munmap(shared, sizeof(std::atomic<bool>));
  const std::vector<RecoveredTrace> recovered = recover_journals(journals.path(), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem == "");
  CHECK(recovered[0].path == folder.path("ep0-ba0-rank0.json"));
  CHECK(Events::of_file(recovered[0].path).count("work", "X") == 5);
  CHECK(read_file(path) == "of somebody else");
}
