// These tests check Session::open(): a session that is refused does not keep the training from
// going on.
#include "record/recorded.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
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
