#include "record/recorded.h"
#include "record/trace_handler.h"
#include "support/child_process.h"
#include "support/refused_calls.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// Records the first three of ten batches an epoch, and saves at the third.
Action three_of_ten(const Position& at) {
  if (at.batch_in_epoch < 2) return Action::active;
  return at.batch_in_epoch == 2 ? Action::active_and_save : Action::skip;
}

void train(Session& session, int epochs, const Marker& marker) {
  Position position;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int batch = 0; batch < 10; ++batch) {
      session.batch_begin(position);
      { const Scope scope(marker); }
      ++position.batch;
      ++position.batch_in_epoch;
      session.batch_end(position);
    }
    ++position.epoch;
    position.batch_in_epoch = 0;
    session.set_position(position);
  }
}

std::vector<std::string> names_of(const Events& events) {
  std::vector<std::string> names;
  for (const std::string& event : events) names.push_back(event.substr(9, event.find('"', 9) - 9));
  return names;
}

}  // namespace

TEST_CASE("session: one file a cycle, named by the position at its end") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = three_of_ten;
  options.rank = 3;
  std::vector<std::string> told;
  options.on_saved = [&](const SavedTrace& trace) { told.push_back(trace.path); };
  Session session(options);
  const Marker marker("event/batch");
  train(session, 2, marker);
  CHECK(session.wait_saved(60'000));
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"ep0-ba3-rank3.json", "ep1-ba13-rank3.json"});
  session.close();
  CHECK(told == std::vector<std::string>{folder.path("ep0-ba3-rank3.json"),
                                         folder.path("ep1-ba13-rank3.json")});
  REQUIRE(session.saved_traces().size() == 2);
  const SavedTrace second = session.saved_traces()[1];
  CHECK(second.path == told[1]);
  CHECK(second.position.batch == 13);
  CHECK(second.events == 3);
  CHECK(second.dropped == 0);
  const Events events = Events::of_file(told[1]);
  const Events batches = events.of("event/batch", "X");
  REQUIRE(batches.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(batches[i].find(R"("pid":3,)") != std::string::npos);
  CHECK(batches[2].find(R"("args":{"epoch":1,"batch":12}})") != std::string::npos);
  CHECK(session.status().events == 6);
  CHECK(session.status().last_error.empty());
}

TEST_CASE("session: metadata has Composer's names and types, and the rounds of the barrier") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.rank = 1;
  int met = 0;
  options.barrier = [&] { ++met; };
  Session session(options);
  CHECK(met == 17);  // once for the folder
  session.close();
  CHECK(met == 33);
  const Events events = Events::of_file(only_trace(session));
  CHECK(names_of(events) ==
        std::vector<std::string>{"process_name", "thread_name", "thread_sort_index", "global_rank",
                                 "process_sort_index", "host", "clock_source", "clock_pairs", "ntp",
                                 "clock_sync_timestamp_us", "clock_sync_error_bound",
                                 "clock_sync_rounds", "clock_sync_rounds", "clock_pairs",
                                 "recorder"});
  CHECK(events[0].find(R"("args":{"name":"Rank 1 training loop process"}})") != std::string::npos);
  CHECK(events[1].find(R"("args":{"name":"Training Loop"}})") != std::string::npos);
  CHECK(events[2].find(R"("args":{"sort_index":0}})") != std::string::npos);
  CHECK(events[3].find(R"("args":{"value":1}})") != std::string::npos);
  CHECK(events[4].find(R"("args":{"sort_index":1}})") != std::string::npos);
  // The numbers are whole microseconds, as Composer has them.
  CHECK(events[9].substr(events[9].find("\"args\"")).find('.') == std::string::npos);
  CHECK(events[11].find(R"("group":"start")") != std::string::npos);
  CHECK(events[12].find(R"("group":"end")") != std::string::npos);
  CHECK(std::count(events[11].begin(), events[11].end(), ',') == 6 + 1 + 15 + 1 + 15);
}

TEST_CASE("session: the sync is the middle of all rounds but the first") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.barrier = [] {};
  options.sync_rounds = 4;
  options.sync_at_end = false;
  Session session(options);
  session.close();
  const Events events = Events::of_file(only_trace(session));
  REQUIRE(events.count("clock_sync_rounds", "M") == 1);
  const std::string rounds = events.of("clock_sync_rounds", "M")[0];
  const auto times = [&](const std::string& key) {
    std::vector<std::int64_t> values;
    std::size_t at = rounds.find("\"" + key + "\":[") + key.size() + 4;
    while (rounds[at - 1] != ']') {
      const std::size_t end = rounds.find_first_of(",]", at);
      values.push_back(nanoseconds("\"x\":" + rounds.substr(at, end - at), "x"));
      at = end + 1;
    }
    return values;
  };
  const std::vector<std::int64_t> enter = times("enter");
  const std::vector<std::int64_t> exit = times("exit");
  REQUIRE(enter.size() == 4);
  REQUIRE(exit.size() == 4);
  const std::int64_t value_us =
      nanoseconds(events.of("clock_sync_timestamp_us", "M")[0], "value") / 1000;
  CHECK(value_us >= enter[1] / 1000);
  CHECK(value_us <= exit[3] / 1000);
  CHECK(nanoseconds(events.of("clock_sync_error_bound", "M")[0], "value") >= 1000);
}

TEST_CASE("session: several ranks without a barrier stamp nothing they do not know") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.world_size = 4;
  Session session(options);
  session.close();
  CHECK(Events::of_file(only_trace(session)).with("clock_sync").size() == 0);
}

TEST_CASE("session: a run that ends early has its trace") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active; };
  const Marker marker("event/batch");
  {
    Session session(options);
    session.batch_begin({});
    const Scope scope(marker);
  }
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.json")).size() > 0);
}

TEST_CASE(
    "session: a folder of an earlier run is refused, another rank's and hidden files are not") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.overwrite = false;
  options.rank = 1;
  static_cast<void>(folder.write(".hidden.json", "[]"));
  static_cast<void>(folder.write("ep0-ba4-rank10.json", "[]"));
  { Session session(options); }
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{".hidden.json", "ep0-ba0-rank1.json", "ep0-ba4-rank10.json"});
  CHECK_THROWS_WITH(Session{options},
                    (folder.path() + ": is not empty: ep0-ba0-rank1.json exists; "
                                     "choose another folder, or allow to overwrite")
                        .c_str());
  options.overwrite = true;
  { Session session(options); }
  CHECK(files_in(folder.path()).size() == 3);
}

TEST_CASE("session: a folder that cannot be made is an error at once") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.folder = folder.write("file", "") + "/traces";
  CHECK_THROWS_WITH(Session{options}, (options.folder + ": Not a directory").c_str());
  // The failed session does not block the next one.
  Session session(options_for(folder));
}

TEST_CASE("session: one that cannot begin leaves nothing behind") {
  const TemporaryFolder folder;
  const TemporaryFolder journals;
  CHECK(run_child([&] {
          int told = 0;
          Options options = options_for(folder);
          options.journal_folder = journals.path();
          options.log = [&](const std::string& /*line*/) { ++told; };
          options.num_traces_to_keep = -2;
          const auto is_refused = [&] {
            try {
              const Session session(options);
            } catch (const std::exception&) {
              return files_in(journals.path()).empty() && files_in(folder.path()).empty();
            }
            return false;
          };
          if (!is_refused()) _exit(1);
          options.num_traces_to_keep = -1;
          refuse_threads();
          if (!is_refused()) _exit(2);
          // The journal, the log and the pool of those that failed are gone.
          Marker::of("one that comes later").finish();
          _exit(told);
        }) == 0);
}

TEST_CASE("session: a second one at a time is refused") {
  const TemporaryFolder folder;
  Session session(options_for(folder));
  CHECK_THROWS_WITH(Session{options_for(folder)},
                    "traceloom: a session is open already; close() it first");
}

TEST_CASE("session: the newest traces are kept, and a name that exists gets a number") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.overwrite = false;
  options.schedule = three_of_ten;
  const Marker marker("event/batch");
  SUBCASE("two of four") {
    options.num_traces_to_keep = 2;
    int found = 0;
    options.on_saved = [&](const SavedTrace& trace) {
      found += std::filesystem::exists(trace.path) ? 1 : 0;
    };
    Session session(options);
    train(session, 4, marker);
    session.close();
    CHECK(found == 4);
    CHECK(files_in(folder.path()) ==
          std::vector<std::string>{"ep2-ba23-rank0.json", "ep3-ba33-rank0.json"});
    CHECK(session.saved_traces().size() == 2);
  }
  SUBCASE("none, and each is there when it is told") {
    options.num_traces_to_keep = 0;
    std::vector<std::string> files;
    options.on_saved = [&](const SavedTrace&) { files = files_in(folder.path()); };
    Session session(options);
    train(session, 1, marker);
    session.close();
    CHECK(files == std::vector<std::string>{"ep0-ba3-rank0.json"});
    CHECK(files_in(folder.path()).empty());
    CHECK(session.saved_traces().empty());
  }
  SUBCASE("one name") {
    options.file_name = [](const Position&) { return "sub/rank0.json"; };
    Session session(options);
    train(session, 3, marker);
    session.close();
    CHECK(files_in(folder.path("sub")) ==
          std::vector<std::string>{"rank0-2.json", "rank0-3.json", "rank0.json"});
  }
}

TEST_CASE("session: the file of a cycle that is open carries .unfinished and can be read") {
  const TemporaryFolder folder;
  Session session(options_for(folder));
  const Marker marker("work");
  for (int i = 0; i < 5000; ++i) const Scope scope(marker);
  session.flush();
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.unfinished.json"});
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.unfinished.json")).count("work", "X") == 5000);
  session.close();
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.json"});
}

TEST_CASE("session: .gz has the same events, and a cut file those of all whole parts") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.file_name = [](const Position&) { return "rank0.json.gz"; };
  Session session(options);
  const Marker marker("work");
  for (int part = 0; part < 5; ++part) {
    for (int i = 0; i < 1000; ++i) const Scope scope(marker);
    session.flush();
  }
  session.close();
  const std::string path = only_trace(session);
  CHECK(path == folder.path("rank0.json.gz"));
  CHECK(Events::of_file(path).count("work", "X") == 5000);
  CHECK(std::system(("gzip -t " + path).c_str()) == 0);
  const std::string bytes = read_file(path);
  std::size_t last = 0;
  for (std::size_t size = 1024; size < bytes.size(); size += 1024) {
    const Events events = Events::of_file(folder.write("cut.json.gz", bytes.substr(0, size)));
    CHECK(events.count("work", "X") >= last);
    last = events.count("work", "X");
  }
  CHECK(last >= 4000);
}

TEST_CASE("session: a thousand short threads lose nothing") {
  const TemporaryFolder folder;
  Session session(options_for(folder));
  static const Marker marker("work");
  for (int i = 0; i < 1000; ++i) std::thread([] { const Scope scope(marker); }).join();
  session.close();
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 1000);
}

TEST_CASE("session: threads that outlive a session record in the next, and nothing in between") {
  const TemporaryFolder first_folder;
  const TemporaryFolder second_folder;
  std::atomic<int> step{0};
  const auto wait_for_step = [&](int wanted) {
    while (step < wanted) std::this_thread::yield();
  };
  static const Marker marker("work");
  std::thread thread([&] {
    wait_for_step(1);
    { const Scope scope(marker); }
    Scope open(marker);
    step = 2;
    wait_for_step(3);
    { const Scope scope(marker); }  // while none is open
    step = 4;
    wait_for_step(5);
    open.finish();  // began in the session before
    for (int i = 0; i < 3; ++i) const Scope scope(marker);
    step = 6;
  });
  Session first(options_for(first_folder));
  step = 1;
  wait_for_step(2);
  first.close();
  step = 3;
  wait_for_step(4);
  Session second(options_for(second_folder));
  step = 5;
  wait_for_step(6);
  thread.join();
  second.close();
  CHECK(Events::of_file(only_trace(first)).count("work", "X") == 1);
  CHECK(Events::of_file(only_trace(second)).count("work", "X") == 3);
}

TEST_CASE("session: CLOCK_MONOTONIC serves where the counter does not") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.clock = ClockChoice::monotonic;
  const Marker marker("work");
  const std::int64_t before = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  Session session(options);
  { const Scope scope(marker); }
  session.close();
  const Events events = Events::of_file(only_trace(session));
  CHECK(events.with(R"("clock_source")").with(R"({"value":"monotonic"})").size() == 1);
  CHECK(session.status().clock == "monotonic");
  const std::int64_t at = nanoseconds(events.of("work", "X")[0], "ts");
  CHECK(std::abs(at - before) < 3'600'000'000'000);
}

TEST_CASE("session: handlers get every event, and one that throws is told of and left alone") {
  struct Collector : TraceHandler {
    void begin_cycle(const CycleInfo& cycle) override {
      log.push_back(std::string("begin ") + cycle.path);
    }
    void duration(const DurationEvent& event) override {
      log.push_back(std::string("duration ") + event.name + " " + event.categories);
      CHECK(event.part == TRACELOOM_WHOLE);
      CHECK(event.epoch == 0);
      CHECK(event.batch == 7);
      CHECK(event.duration_ns >= 0);
      CHECK(event.thread_name == std::string("Training Loop"));
    }
    void instant(const InstantEvent& event) override {
      log.push_back(std::string("instant ") + event.name);
    }
    void counter(const CounterEvent& event) override {
      log.push_back(std::string("counter ") + event.name + " " + event.keys[1] + "=" +
                    std::to_string(event.values[1]));
    }
    void external_trace(const std::string& path) override { log.push_back("external " + path); }
    void end_cycle(const CycleInfo& cycle) override {
      log.push_back(std::string("end ") + cycle.path);
    }
    std::vector<std::string> log;
  };
  struct Thrower : TraceHandler {
    void duration(const DurationEvent& /*event*/) override {
      ++calls;
      throw std::runtime_error("no more");
    }
    int calls = 0;
  };
  const TemporaryFolder folder;
  const std::string external = folder.write("torch.json", "[]");
  Options options = options_for(folder);
  const auto collector = std::make_shared<Collector>();
  const auto thrower = std::make_shared<Thrower>();
  options.handlers = {thrower, collector};
  options.write_json = false;
  options.start.batch = 7;
  Session session(options);
  const Marker marker("work", "c");
  { const Scope scope(marker); }
  { const Scope scope(marker); }
  marker.instant();
  const Counter counter("values", "", {"a", "b"});
  counter.record(1, 2);
  session.record_chrome_json_trace_file(external);
  session.close();
  CHECK(collector->log == std::vector<std::string>{"begin ", "duration work c", "duration work c",
                                                   "instant work", "counter values b=2.000000",
                                                   "external " + external, "end "});
  CHECK(thrower->calls == 1);
  CHECK(session.status().last_error == "no more; the handler gets no more of this cycle");
  CHECK(files_in(folder.path()) == std::vector<std::string>{"torch.json"});
}

TEST_CASE("session: an external trace that comes when it is being closed is told") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  Session* opened = nullptr;
  options.on_saved = [&](const SavedTrace&) {
    opened->record_chrome_json_trace_file("torch.json");
  };
  Session session(options);
  opened = &session;
  session.close();
  CHECK(session.status().last_error ==
        "torch.json: came when the session was being closed; it is left out");
  CHECK(files_in(folder.path()) == std::vector<std::string>{"ep0-ba0-rank0.json"});
}

TEST_CASE("session: what ends after its cycle is in the next file, or in one more") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = three_of_ten;
  Session session(options);
  const Marker late("late");
  const Marker marker("event/batch");
  late.start();
  train(session, 1, marker);
  late.finish();
  session.close();
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"ep0-ba3-rank0.json", "ep1-ba10-rank0.json"});
  CHECK(Events::of_file(folder.path("ep1-ba10-rank0.json")).count("late", "X") == 1);
}
