// These tests fill the 1 MiB that a journal has for labels: events of further labels are recovered,
// and counted.
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("journal: events of labels that it has no room for are counted, by the trace as well") {
  constexpr int kMarkers = 4000;
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  options.flush_ms = 3'600'000;  // nothing but the journal has the events
  const std::string tail(400, 'x');
  const int status = wait_for(start_child([&] {
    std::vector<std::string> log;
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session session(options);
    for (int i = 0; i < kMarkers; ++i)
      record_scopes(Marker(("marker of the test " + std::to_string(i) + tail).c_str()), 1);
    const Counter counter("counter of the test", "", {tail, tail + "2", tail + "3"});
    counter.record(1, 2, 3);
    session.flush();
    record_scopes(Marker(("last of the test" + tail).c_str()), 3);
    if (log.size() != 1 || log[0].find(": has no room for the names of more markers; a recovery "
                                       "would call their events \"marker NUMBER\", and count them "
                                       "(told once)") == std::string::npos)
      _exit(91);
    raise(SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(status));
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].problem == "");
  CHECK(recovered[0].events == 3);
  CHECK(recovered[0].unnamed == 3);
  CHECK(recovered[0].lost == 0);
  CHECK(words_of_loss(recovered[0]) == ", 3 without the names of their markers");
  const Events events = Events::of_file(recovered[0].path);
  CHECK(events.count("counter of the test", "C") == 1);  // it was in the file
  CHECK(events.with("{\"name\":\"marker of the test ").size() == kMarkers);
  CHECK(events.with("{\"name\":\"marker ").with("\"ph\":\"X\"").size() == kMarkers + 3);
  const std::string counts = "\"events\":" + std::to_string(kMarkers + 4) +
                             ",\"dropped\":0,\"lost\":0,\"unnamed\":3,\"recovered\":3}";
  REQUIRE(events.count("recorder", "M") == 1);
  CHECK(events.of("recorder", "M")[0].find(counts) != std::string::npos);
}

TEST_CASE("journal: an event of a counter that it has no room for is lost, and counted") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  options.schedule = [](const Position&) {
    return Action::active;
  };  // no batch: nothing is drained
  const int status = wait_for(start_child([&] {
    Session session(options);
    const std::string name(600'000, 'n');
    const Marker large(name.c_str());
    record_scopes(large, 2);
    const Counter counter(name, "", {"a", "b"});
    counter.record(1, 2);
    raise(SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(status));
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].events == 2);
  CHECK(recovered[0].unnamed == 0);
  CHECK(recovered[0].lost == 1);
  CHECK(words_of_loss(recovered[0]) == ", 1 lost");
  const Events said = Events::of_file(recovered[0].path).of("recorder", "M");
  CHECK(said.with("\"lost\":1,\"recovered\":2,"
                  "\"error\":\"the journal had no room for the names of all values\"}")
            .size() == 1);
}
