// These tests check what the program may do in the calls that a session makes to it, and at the
// same time as them.
#include "record/recorded.h"
#include "record/trace_handler.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

const Marker marker("work");

void record_one() {
  const Scope scope(marker);
}

}  // namespace

TEST_CASE("callback: a schedule that throws at the start ends the session, and no more than it") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) -> Action { throw std::runtime_error("no plan"); };
  CHECK_THROWS_WITH_AS(Session{options}, "no plan", std::runtime_error);
  Session session(options_for(folder));
  record_one();
  session.close();
  CHECK(session.status().events == 1);
  CHECK(files_in(folder.path()).size() == 1);
}

TEST_CASE("callback: a barrier that throws where the first cycle begins ends the session") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  int calls = 0;
  options.barrier = [&calls] {
    if (++calls == 2) throw std::runtime_error("a rank is gone");
  };
  CHECK_THROWS_WITH_AS(Session{options}, "a rank is gone", std::runtime_error);
  const Session other(options_for(folder));
  CHECK(other.action() == Action::active);
}

TEST_CASE("callback: what is thrown and no std::exception is told like any other") {
  struct Handler : TraceHandler {
    void duration(const DurationEvent&) override { throw 5; }
  };
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.file_name = [](const Position&) -> std::string { throw 5; };
  options.on_saved = [](const SavedTrace&) { throw 5; };
  options.handlers.push_back(std::make_shared<Handler>());
  Session session(options);
  record_one();
  session.close();
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.json"});
  CHECK(session.status().last_error == "an exception of an unknown type");
}

TEST_CASE("callback: on_saved may ask its session for anything, and waits for nothing") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  Session* asked = nullptr;
  int calls = 0;
  options.on_saved = [&](const SavedTrace&) {
    asked->flush();
    asked->wait_saved(60'000);
    asked->close();
    calls += static_cast<int>(asked->saved_traces().size());
  };
  Session session(options);
  asked = &session;
  Position at;
  session.batch_begin(at);
  record_one();
  ++at.batch;
  session.batch_end(at);
  CHECK(session.wait_saved(60'000));
  CHECK(calls == 1);
  session.batch_begin(at);
  record_one();
  session.close();
  CHECK(session.status().events == 2);
}

TEST_CASE("callback: threads that flush and ask while the session is closed come back") {
  const TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) {
    Session session(options_for(folder));
    std::atomic<bool> asks = false;
    std::atomic<bool> is_closed = false;
    std::thread other([&] {
      while (!is_closed) {
        session.flush();
        asks = true;
        session.wait_saved(60'000);
        CHECK(session.status().last_error.empty());
        session.saved_traces();
      }
    });
    while (!asks) std::this_thread::yield();
    session.close();
    is_closed = true;
    other.join();
    CHECK(session.saved_traces().size() == 1);
  }
}

TEST_CASE("callback: signals are for the threads of the program") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  sigset_t of_writer;
  sigemptyset(&of_writer);
  options.file_name = [&](const Position&) {
    pthread_sigmask(SIG_SETMASK, nullptr, &of_writer);
    return std::string("rank0.json");
  };
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Session session(options);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  session.close();
  CHECK(sigismember(&of_writer, SIGTERM) == 1);
  CHECK(sigismember(&after, SIGTERM) == sigismember(&before, SIGTERM));
}
