// These tests check what is left of a recording process that was killed: a file without a journal,
// and with one.
#include "record/dead_journals.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "support/child_process.h"
#include "support/tries.h"
#include "support/zstd_text.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <sys/mman.h>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

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

// Records in a process with three producers, and kills it after about `events` of each.
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

// Checks that the values of each thread are 1, 2, 3, ... without a gap; returns how many there are.
std::uint64_t count_in_order(const Events& events, std::size_t thread) {
  std::uint64_t next = 1;
  for (const std::string& event : events.of("thread " + std::to_string(thread), "C")) {
    if (!event.ends_with("\"args\":{\"value\":" + std::to_string(next) + "}}")) FAIL(event);
    ++next;
  }
  return next - 1;
}

}  // namespace

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
  const std::uint64_t rounds = tries(20);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const TemporaryFolder folder;
    const SharedCounts counts;
    Options options = options_for(folder);
    options.journal_folder = folder.path("journal");
    options.flush_ms = 2;
    options.when_full = WhenFull::block;
    options.block_ms = 60'000;
    const std::string name =
        std::vector{"rank0.json", "rank0.json.gz", "rank0.json.zst"}[round % 3];
    options.file_name = [&](const Position&) { return name; };
    record_and_kill(options, counts, round * (20'000 / rounds) + 1);
    const std::vector<RecoveredTrace> recovered =
        recover_journals(folder.path("journal"), {folder.path()});
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
    if (round % 3 == 1) CHECK(std::system(("gzip -t " + recovered[0].path).c_str()) == 0);
    if (round % 3 == 2) CHECK((unzstd(read_file(recovered[0].path)) == text));
  }
}

TEST_CASE("kill: a journal that has grown loses nothing") {
  constexpr int kThreads = 40;
  const TemporaryFolder folder;
  const SharedCounts counts;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  options.pool_bytes = 4 * 65536;
  options.flush_ms = 60'000;
  const pid_t child = start_child([&] {
    const Session session(options);
    static const Marker marker("work");
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        record_scopes(marker, 20);
        ++counts[0];
        while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
      });
    threads[0].join();
  });
  while (counts[0] < kThreads) std::this_thread::yield();
  kill_child(child);
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem == "");
  CHECK(Events::of_file(recovered[0].path).count("work", "X") == kThreads * 20);
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
  CHECK(run_child([&] {
          _exit(static_cast<int>(recover_journals(journals.path(), {folder.path()}).size()));
        }) == 0);
  CHECK(journals.entry_count() == 1);
  session.close();
  CHECK(journals.entry_count() == 0);
}

TEST_CASE("journal: it has what threads record that were there in an earlier session") {
  const TemporaryFolder folder;
  const SharedCounts counts;
  const pid_t child = start_child([&] {
    Options options = options_for(folder);
    options.flush_ms = 3'600'000;  // nothing but the journal has the events
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
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
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
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
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

TEST_CASE("journal: old ones of dead processes are told once a node") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  const std::string trace = folder.path("elsewhere/ep0-ba0-rank0.unfinished.json");
  const std::string old = leave_journal({journals.path(), trace});
  const auto log_of = [&](std::int64_t local_rank) {
    std::vector<std::string> log;
    Options options = options_for(folder);
    options.rank = 7;
    options.local_rank = local_rank;
    options.journal_folder = journals.path();
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session(options).close();
    return log;
  };
  CHECK(log_of(0).empty());
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  CHECK(log_of(0) == std::vector<std::string>{
                         journals.path() +
                         ": 1 journal of dead processes, older than a day; trace-merge --recover " +
                         journals.path() +
                         " FOLDER, with the folder of their traces, completes these and deletes "
                         "what holds nothing"});
  CHECK(log_of(1).empty());
  CHECK(inode_of(old) != 0);
}

TEST_CASE("journal: one that holds nothing is deleted, whatever folders are named") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  const std::string trace = folder.write("ep0-ba0-rank0.unfinished.json", "[\n");
  record::FileState state;
  state.bytes = state.text_bytes = 2;
  state.inode = inode_of(trace);
  const auto make = [&](std::uint32_t written) {
    const std::string path = leave_journal({journals.path(), trace, state});
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(JournalLayout::head_bytes() +
                                           offsetof(record::detail::ChunkHeader, written)));
    file.write(reinterpret_cast<const char*>(&written), sizeof written);
  };
  make(12);  // all of its slots
  REQUIRE(recover_journals(journals.path(), {journals.path()}).size() == 1);
  CHECK(files_in(journals.path()).size() == 1);  // the trace lacks its end
  std::filesystem::remove(trace);
  const std::vector<RecoveredTrace> recovered =
      recover_journals(journals.path(), {journals.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem == "");
  CHECK(recovered[0].path == "");
  CHECK(files_in(journals.path()).empty());
  make(11);
  CHECK(recover_journals(journals.path(), {journals.path()}).at(0).problem != "");
  CHECK(files_in(journals.path()).size() == 1);
}

TEST_CASE("journal: without room for one recording goes on, and it is told") {
  const TemporaryFolder folder;
  const int code = run_child([&] {
    limit_file_size(1'000'000);
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
    if (session.status().last_error != log[0]) _exit(94);
    if (!files_in(options.journal_folder).empty()) _exit(92);
    _exit(Events::of_file(only_trace(session)).count("work", "X") == 1 ? 0 : 93);
  });
  CHECK(code == 0);
}
