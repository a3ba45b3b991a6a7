// These tests check Session::open(): a session that is refused does not keep the training from
// going on.
#include "record/recorded.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("session: open() is a session like any other") {
  const TemporaryFolder folder;
  Session session = Session::open(options_for(folder));
  CHECK(session.is_open());
  record_scopes(Marker("work"), 3);
  CHECK(session.close().events == 3);
  CHECK_FALSE(session.is_open());
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 3);
}

TEST_CASE("session: one that is opened a second time in a folder trains on, and says why") {
  const TemporaryFolder folder;
  Options options;
  options.folder = folder.path();
  { Session first(options); }
  const std::vector<std::string> files = files_in(folder.path());
  REQUIRE(files == std::vector<std::string>{"ep0-ba0-rank0.json"});
  const std::string why = folder.path() +
                          ": is not empty: ep0-ba0-rank0.json exists; choose another folder, or "
                          "allow to overwrite";
  CHECK_THROWS_WITH_AS(Session{options}, why.c_str(), std::runtime_error);
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session second = Session::open(options);
  CHECK_FALSE(second.is_open());
  CHECK(log == std::vector<std::string>{why + "; nothing is recorded"});
  CHECK(second.status().last_error == why);
  run_batches(second, Marker("work"), 3);
  second.record_chrome_json_trace_file("none.json");
  second.set_position({});
  second.flush();
  CHECK(second.wait_saved(0));
  CHECK(second.action() == Action::skip);
  CHECK(second.close().last_error == why);
  CHECK(second.saved_traces().empty());
  CHECK(files_in(folder.path()) == files);
  // A refused session does not block another one.
  options.overwrite = true;
  CHECK(Session::open(options).is_open());
}

TEST_CASE("session: one that is refused meets the other ranks at the barrier") {
  const TemporaryFolder folder;
  const auto meetings = [&] {
    int met = 0;
    Options options;
    options.folder = folder.path();
    options.schedule = [](const Position& at) {
      return at.batch % 2 == 1 ? Action::active_and_save : Action::active;
    };
    options.barrier = [&] { ++met; };
    options.sync_rounds = 4;
    int saved = 0;
    options.on_saved = [&](const SavedTrace&) { ++saved; };
    Session session = Session::open(options);
    run_batches(session, Marker("work"), 4);
    session.close();
    CHECK(saved == (session.status().last_error.empty() ? 2 : 0));
    return met;
  };
  const int first = meetings();
  CHECK(first == 1 + 2 * 2 * 4);
  const std::vector<std::string> files = files_in(folder.path());
  CHECK(meetings() == first);
  CHECK(files_in(folder.path()) == files);
}

TEST_CASE("session: whatever it is refused for, it follows, and the log says why") {
  const TemporaryFolder folder;
  struct Told {
    int met = 0;
    std::string log;
  };
  const auto follow = [&](const auto& spoil) {
    Told told;
    traceloom_options options = TRACELOOM_OPTIONS_INIT;
    const std::string path = folder.path("traces");
    options.folder = path.c_str();
    options.overwrite = 1;
    options.sync_rounds = 4;
    options.barrier = [](void* arg) { ++static_cast<Told*>(arg)->met; };
    options.log = [](void* arg, const char* line) { static_cast<Told*>(arg)->log += line; };
    options.barrier_arg = options.log_arg = &told;
    spoil(options);
    traceloom_session* const session = traceloom_open_or_follow(&options);
    CHECK((traceloom_is_open(session) != 0) == told.log.empty());
    CHECK(traceloom_batch_begin(session, nullptr) == 0);
    CHECK(traceloom_batch_end(session, nullptr) == 0);
    CHECK(traceloom_close(session) == 0);
    CHECK(told.met == 1 + 4 + 4);
    return told.log;
  };
  CHECK(follow([](traceloom_options&) {}) == "");
  CHECK(follow([](traceloom_options& options) { options.when_full = 9; }) ==
        "traceloom_options.when_full 9 is not from 0 to 2; nothing is recorded");
  CHECK(follow([](traceloom_options& options) { options.gzip_level = 10; }) ==
        "traceloom: gzip_level 10 is not from 0 to 9; nothing is recorded");
  CHECK(follow([](traceloom_options& options) { options.handler_count = 1; }) ==
        "traceloom_options: 1 handlers, but no pointer to them; nothing is recorded");
  static const traceloom_handler* const none[] = {nullptr};
  CHECK(follow([](traceloom_options& options) {
          options.handlers = none;
          options.handler_count = 1;
        }) == "traceloom_options.handlers[0] is NULL; nothing is recorded");
  const Session first(options_for(folder));
  CHECK(follow([](traceloom_options&) {}) ==
        "traceloom: a session is open already; close() it first; nothing is recorded");
  CHECK(first.is_open());
}

TEST_CASE("session: a thread may end in a callback of the program") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          Options options = options_for(folder);
          options.schedule = [](const Position& at) {
            if (at.batch == 1) pthread_exit(nullptr);
            return Action::active;
          };
          Session session(options);
          std::thread([&] {
            Position at;
            at.batch = 1;
            session.batch_begin(at);
          }).join();
          _exit(session.is_open() ? 0 : 1);
        }) == 0);
}
