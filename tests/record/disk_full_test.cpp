// What becomes of a recording when its files cannot be written.
#include "record/recorded.h"
#include "support/child_process.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("disk full: what it has no room for of an external trace is none of the lost events") {
  const TemporaryFolder folder;
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += R"({"name":"of another profiler","ph":"X","ts":1,"dur":1,"pid":1,"tid":1},)";
  const std::string external = folder.write("external/torch.json", text);
  for (const char* name : {"a.json", "a.json.gz"}) {
    const int code = run_child([&] {
      limit_file_size(3000);
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
    limit_file_size(100'000);
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
          limit_file_size(0);
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
