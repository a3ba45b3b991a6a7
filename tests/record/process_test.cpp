// What happens to a recording process: fork, exit, SIGKILL, a full disk.
#include "record/recorded.h"
#include "record/recover.h"
#include "support/child_process.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// The thread sanitizer gives up ("dup thread with used id") where the child of a process with
// threads makes one itself.
#if defined(__SANITIZE_THREAD__)
constexpr bool kChildMayHaveThreads = false;
#else
constexpr bool kChildMayHaveThreads = true;
#endif

// Destroyed when the functions that are registered for the exit have run.
struct LastOfAll {
  ~LastOfAll() {
    while (is_waiting) std::this_thread::yield();
  }
  std::atomic<bool> is_waiting{false};
};
LastOfAll last_of_all;

// Memory that a child and its parent share.
class SharedCounts {
 public:
  static constexpr std::size_t kCount = 8;

  SharedCounts() {
    void* const memory =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    counts_ = new (memory) std::array<std::atomic<std::uint64_t>, kCount>{};
  }
  ~SharedCounts() { munmap(static_cast<void*>(counts_), 4096); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  std::atomic<std::uint64_t>& operator[](std::size_t i) const { return (*counts_)[i]; }

 private:
  std::array<std::atomic<std::uint64_t>, kCount>* counts_;
};

// Records counters 1, 2, 3, ... until it is killed, and says after each that it is done.
void count_for_ever(const Counter& counter, std::atomic<std::uint64_t>& done) {
  for (std::uint64_t i = 1;; ++i) {
    counter.record(i);
    done.store(i, std::memory_order_release);
  }
}

const Counter& counter_of(std::size_t thread) {
  static const std::array<Counter, 3> kCounters{Counter("thread 0", "", {"value"}),
                                                Counter("thread 1", "", {"value"}),
                                                Counter("thread 2", "", {"value"})};
  return kCounters.at(thread);
}

void wait_until(const SharedCounts& counts, std::uint64_t least) {
  for (std::size_t i = 0; i < 3; ++i)
    while (counts[i].load() < least) std::this_thread::yield();
}

enum class Begin : std::uint8_t { at_once, with_a_file };

// A process with three producers that is killed after about `events` of each.
void record_and_kill(const Options& options, const SharedCounts& counts, std::uint64_t events,
                     Begin begin = Begin::at_once) {
  const pid_t child = start_child([&] {
    Session session(options);
    if (begin == Begin::with_a_file) session.flush();
    std::thread first([&] { count_for_ever(counter_of(0), counts[0]); });
    std::thread second([&] { count_for_ever(counter_of(1), counts[1]); });
    count_for_ever(counter_of(2), counts[2]);
  });
  wait_until(counts, events);
  kill_child(child);
}

// Whether the values of each thread are 1, 2, 3, ... without a gap; returns how many there are.
std::uint64_t count_in_order(const Events& events, std::size_t thread) {
  std::uint64_t next = 1;
  for (const std::string& event : events.of("thread " + std::to_string(thread), "C")) {
    if (!event.ends_with("\"args\":{\"value\":" + std::to_string(next) + "}}")) FAIL(event);
    ++next;
  }
  return next - 1;
}

}  // namespace

TEST_CASE("fork: the child records nothing, and may open a session of its own") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  SUBCASE("plain") {}
  SUBCASE("with a journal") {
    options.journal_folder = folder.path();
  }
  Session session(options);
  const Marker marker("work");
  const Marker open_marker("open");
  { const Scope scope(marker); }
  const Scope open(open_marker);
  const int code = run_child([&] {
    for (int i = 0; i < 5000; ++i) const Scope scope(marker);
    marker.instant();
    session.batch_begin({});
    session.flush();
    session.close();
    if (!session.saved_traces().empty()) _exit(1);
    if (!kChildMayHaveThreads) _exit(7);
    Options own = options_for(folder);
    own.file_name = [](const Position&) { return "child.json"; };
    Session mine(own);
    for (int i = 0; i < 10; ++i) const Scope scope(marker);
    mine.close();
    _exit(mine.saved_traces().size() == 1 ? 7 : 2);
  });
  CHECK(code == 7);
  { const Scope scope(marker); }
  session.close();
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 2);
  if (!kChildMayHaveThreads) return;
  CHECK(Events::of_file(folder.path("child.json")).count("work", "X") == 10);
  CHECK(files_in(folder.path()) == std::vector<std::string>{"child.json", "ep0-ba0-rank0.json"});
}

TEST_CASE("fork: a child that exits leaves the parent's file alone") {
  const TemporaryFolder folder;
  auto session = std::make_unique<Session>(options_for(folder));
  const Marker marker("work");
  for (int i = 0; i < 100; ++i) const Scope scope(marker);
  CHECK(run_child([&] {
          session.reset();
          std::exit(3);
        }) == 3);
  session->close();
  CHECK(Events::of_file(only_trace(*session)).count("work", "X") == 100);
}

TEST_CASE("exit: a session that is never destroyed writes its trace") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          auto* session = new Session(options_for(folder));
          static_cast<void>(session);
          static const Marker marker("work");
          for (int i = 0; i < 3000; ++i) const Scope scope(marker);
          std::exit(4);
        }) == 4);
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.json")).count("work", "X") == 3000);
}

TEST_CASE("exit: while another thread closes the session, or goes on with it") {
  static Session* session = nullptr;
  static std::atomic<bool> is_saving{false};
  std::function<void()> go_on = [] { delete session; };
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  Options options = options_for(folder);
  options.journal_folder = journals.path();
  options.on_saved = [](const SavedTrace& /*trace*/) {
    is_saving = true;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // until two wait for the end of this
  };
  SUBCASE("closes") {}
  SUBCASE("goes on") {
    options.schedule = [&](const Position& at) {
      // The writer takes its journal along.
      while (at.batch > 0 && !files_in(journals.path()).empty()) std::this_thread::yield();
      return at.batch == 1 ? Action::active_and_save : Action::active;
    };
    go_on = [] {
      Position at;
      for (at.batch = 1; at.batch < 4; ++at.batch) {
        session->batch_begin(at);
        session->batch_end(at);
      }
      session->set_position(at);
    };
  }
  CHECK(run_child([&] {
          session = new Session(options);
          session->batch_begin({});
          const Marker marker("work");
          { const Scope scope(marker); }
          last_of_all.is_waiting = true;
          std::thread([&] {
            while (!is_saving) std::this_thread::yield();
            go_on();
            last_of_all.is_waiting = false;
          }).detach();
          std::exit(4);
        }) == 4);
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.json")).count("work", "X") == 1);
}

TEST_CASE("exit: a static session, and scopes that end after it, are no harm") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          static const Marker marker("work");
          static const Marker late("late");
          static const Scope until_the_end(late);  // begins while nothing is recorded
          static Session session(options_for(folder));
          struct Last {
            ~Last() { const Scope scope(marker); }
          };
          static const Last inside;
          thread_local const Last of_thread;
          static_cast<void>(&inside);
          static_cast<void>(&of_thread);
          std::exit(5);
        }) == 5);
  const Events events = Events::of_file(folder.path("ep0-ba0-rank0.json"));
  CHECK(events.count("work", "X") == 2);
  CHECK(events.count("late", "X") == 0);
}

TEST_CASE("kill: a file without a journal has every whole line and at most a cut one") {
  const TemporaryFolder folder;
  const SharedCounts counts;
  Options options = options_for(folder);
  options.flush_ms = 5;
  SUBCASE("plain") {}
  SUBCASE("gzip") {
    options.file_name = [](const Position&) { return "rank0.json.gz"; };
  }
  record_and_kill(options, counts, 20'000, Begin::with_a_file);
  const std::vector<std::string> files = files_in(folder.path());
  REQUIRE(files.size() == 1);
  const std::string text = read_trace(folder.path(files[0]));
  const std::size_t last_line = text.rfind('\n');
  for (const std::string& event : Events(text.substr(0, last_line))) REQUIRE(is_strict_json(event));
}

TEST_CASE("kill: with a journal nothing is lost, of several threads") {
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    const SharedCounts counts;
    Options options = options_for(folder);
    options.journal_folder = folder.path("journal");
    options.flush_ms = 2;
    options.when_full = WhenFull::block;
    options.block_ms = 60'000;
    const bool is_gzip = round % 2 == 1;
    const std::string name = is_gzip ? "rank0.json.gz" : "rank0.json";
    options.file_name = [&](const Position&) { return name; };
    record_and_kill(options, counts, static_cast<std::uint64_t>(round) * 1000 + 1);
    const std::vector<RecoveredTrace> recovered = recover_journals(folder.path("journal"));
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].problem.empty());
    CHECK(recovered[0].path == folder.path(name));
    CHECK(files_in(folder.path("journal")).empty());
    const std::string text = read_trace(recovered[0].path);
    CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
    const Events events(text);
    CHECK(events.count("global_rank", "M") == 1);
    for (std::size_t thread = 0; thread < 3; ++thread) {
      const std::uint64_t count = count_in_order(events, thread);
      CHECK(count >= counts[thread].load());
      CHECK(count <= counts[thread].load() + 1);
    }
    if (is_gzip) CHECK(std::system(("gzip -t " + recovered[0].path).c_str()) == 0);
  }
}

TEST_CASE(
    "kill: the next session of the rank takes up the journal, no other and not a living one") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  const SharedCounts counts;
  Options options = options_for(folder);
  options.journal_folder = journals.path();
  options.rank = 1;
  record_and_kill(options, counts, 10);
  REQUIRE(journals.entry_count() == 1);
  options.rank = 2;
  { Session other(options); }
  CHECK(journals.entry_count() == 1);
  std::vector<std::string> log;
  options.rank = 1;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  REQUIRE(log.size() == 1);
  INFO(log[0]);
  CHECK(log[0].starts_with(folder.path("ep0-ba0-rank1.json") + ": completed with "));
  CHECK(journals.entry_count() == 1);
  CHECK(run_child([&] { _exit(static_cast<int>(recover_journals(journals.path()).size())); }) == 0);
  CHECK(journals.entry_count() == 1);
  session.close();
  CHECK(journals.entry_count() == 0);
}

TEST_CASE("journal: it has what threads record that were there in an earlier session") {
  const TemporaryFolder folder;
  const SharedCounts counts;
  const pid_t child = start_child([&] {
    Options options = options_for(folder);
    options.flush_ms = 3'600'000;  // what is in the journal is there alone
    auto session = std::make_unique<Session>(options);
    std::thread earlier([&] {
      counter_of(0).record(0);
      counts[1] = 1;
      while (counts[2] == 0) std::this_thread::yield();
      for (std::uint64_t i = 1; i <= 100; ++i) counter_of(0).record(i);
      counts[0] = 1;
      pause();
    });
    while (counts[1] == 0) std::this_thread::yield();
    session.reset();
    options.overwrite = true;
    options.journal_folder = folder.path("journal");
    session = std::make_unique<Session>(options);
    counts[2] = 1;
    pause();
  });
  while (counts[0] == 0) std::this_thread::yield();
  kill_child(child);
  const std::vector<RecoveredTrace> recovered = recover_journals(folder.path("journal"));
  REQUIRE(recovered.size() == 1);
  CHECK(count_in_order(Events::of_file(recovered[0].path), 0) == 100);
}

TEST_CASE("journal: a session of several cycles that is killed loses nothing of any") {
  const TemporaryFolder folder;
  const SharedCounts counts;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  options.schedule = [](const Position& at) {
    return at.batch % 4 == 3 ? Action::active_and_save : Action::active;
  };
  const pid_t child = start_child([&] {
    MarkerOptions long_running;
    long_running.long_running = true;
    const Marker epoch("epoch", "", long_running);
    const Counter counter("number", "", {"value"});
    Session session(options);
    epoch.start();
    Position at;
    for (std::uint64_t i = 1;; ++i) {
      session.batch_begin(at);
      if (at.batch == 5) epoch.finish();
      counter.record(i);
      counts[0].store(i);
      ++at.batch;
      session.batch_end(at);
    }
  });
  while (counts[0].load() < 500) std::this_thread::yield();
  kill_child(child);
  const std::vector<RecoveredTrace> recovered = recover_journals(folder.path("journal"));
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem.empty());
  std::map<std::uint64_t, std::string> by_batch;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.is_regular_file()) {
      const Events events = Events::of_file(entry.path());
      CHECK(events.count("epoch", "E") <= events.count("epoch", "B"));
      for (const std::string& event : events.of("number", "C"))
        by_batch[static_cast<std::uint64_t>(nanoseconds(event, "value") / 1000)] = entry.path();
    }
  const std::uint64_t told = counts[0].load();
  CHECK(by_batch.size() >= told);
  CHECK(by_batch.size() <= told + 1);
  CHECK(by_batch.rbegin()->first == by_batch.size());
}

TEST_CASE("journal: one that is another process's, of the same number, is left alone") {
  const TemporaryFolder folder;
  const std::string stem = "traceloom-rank0-" + std::to_string(getpid());
  const std::string of_other = folder.write(stem + ".journal", "its events");
  const SharedCounts counts;
  const pid_t other = start_child([&] {
    const int file = open(of_other.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    counts[0] = fcntl(file, F_SETLK, &lock) == 0 ? 1 : 2;
    while (true) pause();
  });
  while (counts[0] == 0) std::this_thread::yield();
  REQUIRE(counts[0] == 1);
  const TemporaryFolder traces;
  Options options = options_for(traces);
  options.journal_folder = folder.path();
  Session session(options);
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{stem + "-2.journal", stem + ".journal"});
  CHECK(read_file(of_other) == "its events");
  session.close();
  CHECK(files_in(folder.path()) == std::vector<std::string>{stem + ".journal"});
  kill_child(other);
}

TEST_CASE("journal: without room for one recording goes on, and it is told") {
  const TemporaryFolder folder;
  const int code = run_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
    Options options = options_for(folder);
    options.journal_folder = folder.path("journal");
    std::vector<std::string> log;
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session session(options);
    const Marker marker("work");
    { const Scope scope(marker); }
    session.close();
    if (log.size() != 1 || !log[0].ends_with(": File too large; going on without a journal"))
      _exit(91);
    if (!files_in(options.journal_folder).empty()) _exit(92);
    _exit(Events::of_file(only_trace(session)).count("work", "X") == 1 ? 0 : 93);
  });
  CHECK(code == 0);
}

TEST_CASE("disk full: what it has no room for of an external trace is none of the lost events") {
  const TemporaryFolder folder;
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += R"({"name":"of another profiler","ph":"X","ts":1,"dur":1,"pid":1,"tid":1},)";
  const std::string external = folder.write("external/torch.json", text);
  for (const char* name : {"a.json", "a.json.gz"}) {
    const int code = run_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{3000, 3000};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
      Options options = options_for(folder);
      options.overwrite = true;
      options.file_name = [&](const Position&) { return name; };
      Session session(options);
      const Marker marker("work");
      { const Scope scope(marker); }
      session.flush();
      session.record_chrome_json_trace_file(external);
      { const Scope scope(marker); }
      session.close();
      const SavedTrace saved = session.saved_traces().at(0);
      if (saved.events + session.status().lost != 2) _exit(91);
      _exit(Events::of_file(saved.path).count("work", "X") == saved.events ? 0 : 92);
    });
    CHECK(code == 0);
  }
}

TEST_CASE(
    "disk full: the file ends with a whole event, what is lost is counted, training goes on") {
  const TemporaryFolder folder;
  const int code = run_child([&] {
    // A limit of the size of files behaves like a full disk: a part is written, then nothing.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
    Options options = options_for(folder);
    std::vector<std::string> log;
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session session(options);
    const Marker marker("work");
    for (int part = 0; part < 10; ++part) {
      for (int i = 0; i < 300; ++i) const Scope scope(marker);
      session.flush();
    }
    session.close();
    const Status status = session.status();
    if (session.saved_traces().size() != 1) _exit(91);
    const SavedTrace saved = session.saved_traces()[0];
    if (saved.events + status.lost != 3000 || status.lost == 0) _exit(92);
    if (log.empty() || log[0] != folder.path("ep0-ba0-rank0.unfinished.json") +
                                     ": File too large; nothing more of this cycle is written")
      _exit(93);
    // Less than 5 kB of the room is not used.
    if (std::filesystem::file_size(saved.path) < 95'000) _exit(96);
    const Events events = Events::of_file(saved.path);
    if (events.count("work", "X") != saved.events) _exit(94);
    for (const std::string& event : events)
      if (!is_strict_json(event)) _exit(95);
    _exit(0);
  });
  CHECK(code == 0);
}

TEST_CASE("disk full: where nothing can be written there is no file, and its path is empty") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{0, 0};
          if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
          Options options = options_for(folder);
          std::optional<SavedTrace> told;
          options.on_saved = [&](const SavedTrace& trace) { told = trace; };
          Session session(options);
          const Marker marker("work");
          { const Scope scope(marker); }
          session.close();
          if (!told || !told->path.empty() || told->events != 0) _exit(91);
          if (!session.saved_traces().empty() || session.status().lost != 1) _exit(92);
          _exit(files_in(folder.path()).empty() ? 0 : 93);
        }) == 0);
}

TEST_CASE("disk full: the next cycle is tried again") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  options.file_name = [](const Position& at) {
    return at.batch < 1 ? std::string("blocked/first.json") : std::string("second.json");
  };
  static_cast<void>(folder.write("blocked", "a file where a folder should be"));
  Session session(options);
  const Marker marker("work");
  run_batches(session, marker, 2);
  session.close();
  CHECK(session.status().lost == 1);
  CHECK(session.status().last_error ==
        folder.path("blocked/first.unfinished.json") +
            ": Not a directory; nothing more of this cycle is written");
  REQUIRE(session.saved_traces().size() == 1);
  CHECK(Events::of_file(folder.path("second.json")).count("work", "X") == 1);
}
