// These tests check what happens to a recording process that forks or exits.
#include "record/recorded.h"
#include "support/child_process.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// The thread sanitizer gives up ("dup thread with used id") if the child of a process with threads
// makes one itself.
constexpr bool kChildMayHaveThreads = !TRACELOOM_CHECKS_THREADS;

// Destroyed when the functions that are registered for the exit have run.
struct LastOfAll {
  ~LastOfAll() {
    while (is_waiting) std::this_thread::yield();
  }
  std::atomic<bool> is_waiting{false};
};
LastOfAll last_of_all;

// Waits until the writer's thread has begun its file and rests. What it holds while it begins would
// be a leak of a child, and a lock of the sanitizer's allocator would stay taken there: g++ 12 does
// not free it at fork(). Both were seen on a busy machine.
void await_writer(const TemporaryFolder& folder) {
  for (int i = 0; i < 1000 && files_in(folder.path()).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

#if TRACELOOM_CHECKS_ADDRESSES
// A child of fork() has no stack of the parent's other threads, so what only these hold looks like
// a leak to the check at its exit. It failed one run of CI in about thirty.
extern "C" int __lsan_is_turned_off() {
  return is_test_child ? 1 : 0;
}
#endif

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
  await_writer(folder);
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
  // The child is a process beside the rank, not another one that says it is the rank.
  CHECK(Events::of_file(folder.path("child.json")).count("beside_rank", "M") == 1);
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.json")).count("beside_rank", "M") == 0);
}

TEST_CASE("fork: a child that exits leaves the parent's file alone") {
  const TemporaryFolder folder;
  auto session = std::make_unique<Session>(options_for(folder));
  const Marker marker("work");
  for (int i = 0; i < 100; ++i) const Scope scope(marker);
  await_writer(folder);
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
