#include "record/recorded.h"
#include "record/schedule.h"

#include <list>
#include <stdexcept>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

MarkerOptions options_with(bool on_start, bool on_finish, bool is_long = false) {
  MarkerOptions options;
  options.instant_on_start = on_start;
  options.instant_on_finish = on_finish;
  options.long_running = is_long;
  return options;
}

// Returns what a session without a schedule writes of what `work` records.
template <typename Work>
Events events_of(const Work& work) {
  const TemporaryFolder folder;
  Session session(options_for(folder));
  work(session);
  session.close();
  const std::string text = read_trace(only_trace(session));
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  return Events(text);
}

// Returns a schedule by the number of the batch.
Schedule by_batch(std::vector<Action> actions) {
  return [actions = std::move(actions)](const Position& at) {
    return at.batch < actions.size() ? actions[at.batch] : Action::skip;
  };
}

// Returns all files of a session with one batch an action; `work` is called in each batch.
template <typename Work>
std::vector<Events> record_batches(const std::vector<Action>& actions, const Work& work) {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = by_batch(actions);
  Session session(options);
  Position position;
  for (; position.batch < actions.size(); ++position.batch) {
    session.batch_begin(position);
    work(position.batch);
    Position next = position;
    ++next.batch;
    session.batch_end(next);
  }
  session.close();
  std::vector<Events> files;
  for (const SavedTrace& trace : session.saved_traces())
    files.push_back(Events::of_file(trace.path));
  return files;
}

}  // namespace

TEST_CASE("marker: a scope, a pair, a call and a wrapped call are one duration each") {
  const Events events = events_of([](Session&) {
    static const Marker marker("work", "a,b");
    marker.start();
    marker.finish();
    { const Scope scope(marker); }
    CHECK(marker.call([](int a, int b) { return a - b; }, 7, 3) == 4);
    auto wrapped = marker.wrap([](const std::string& text, int n) { return text.substr(0, n); });
    CHECK(wrapped("value", 3) == "val");
    marker.instant();
  });
  CHECK(events.count("work", "X") == 4);
  CHECK(events.count("work", "i") == 1);
  CHECK(events.count("work", "B") + events.count("work", "E") == 0);
  for (const std::string& event : events.of("work", "X")) {
    CHECK(event.find(R"("cat":"a,b")") != std::string::npos);
    CHECK(event.find(R"("args":{"epoch":0,"batch":0}})") != std::string::npos);
  }
  CHECK(events.of("work", "i")[0].find(R"("args":{"epoch":0,"batch":0},"s":"p"})") !=
        std::string::npos);
}

TEST_CASE("marker: a call gives references as references and passes exceptions on") {
  const Events events = events_of([](Session&) {
    const Marker marker("work");
    int value = 1;
    marker.call([&]() -> int& { return value; }) = 5;
    CHECK(value == 5);
    CHECK_THROWS_WITH(marker.call([]() -> int { throw std::runtime_error("inside"); }), "inside");
  });
  CHECK(events.count("work", "X") == 2);
}

TEST_CASE("marker: recursion, and pairs that end in any order, keep their times") {
  const Events events = events_of([](Session&) {
    const Marker outer("outer");
    const Marker inner("inner");
    outer.start();
    outer.start();
    inner.start();
    outer.finish();  // the second
    inner.finish();
    outer.finish();
  });
  const Events outer = events.of("outer", "X");
  REQUIRE(outer.size() == 2);
  REQUIRE(events.count("inner", "X") == 1);
  CHECK(nanoseconds(outer[0], "ts") >= nanoseconds(outer[1], "ts"));
  CHECK(nanoseconds(outer[0], "ts") + nanoseconds(outer[0], "dur") <=
        nanoseconds(outer[1], "ts") + nanoseconds(outer[1], "dur"));
}

TEST_CASE("marker: threads that share a marker have rows of their own, with their names") {
  const Events events = events_of([](Session&) {
    static const Marker marker("shared");
    std::thread first([] {
      set_thread_name("loader \"one\"");
      for (int i = 0; i < 100; ++i) const Scope scope(marker);
    });
    std::thread second([] {
      pthread_setname_np(pthread_self(), "second");
      for (int i = 0; i < 200; ++i) const Scope scope(marker);
    });
    first.join();
    second.join();
  });
  const Events names = events.of("thread_name", "M");
  REQUIRE(names.size() == 3);
  CHECK(names[0].find(R"("args":{"name":"Training Loop"}})") != std::string::npos);
  std::vector<std::size_t> counts;
  for (const std::string_view name : {R"("loader \"one\""})", R"("second"})"}) {
    const Events of_thread = names.with(name);
    REQUIRE(of_thread.size() == 1);
    const std::string tid = std::to_string(nanoseconds(of_thread[0], "tid") / 1000);
    counts.push_back(events.of("shared", "X").with("\"tid\":" + tid + ",").size());
  }
  CHECK(counts == std::vector<std::size_t>{100, 200});
}

TEST_CASE("marker: what starts unrecorded is never recorded, what starts recorded always is") {
  using enum Action;
  static const Marker marker("crossing");
  // The marker starts in one batch and finishes in the next.
  const auto crossing = [](const std::vector<Action>& actions) {
    std::size_t count = 0;
    const std::vector<Events> files = record_batches(
        actions, [](std::uint64_t batch) { batch == 0 ? marker.start() : marker.finish(); });
    for (const Events& events : files) {
      count += events.count("crossing", "X");
      CHECK(events.with("\"ph\":\"E\"").size() + events.with("\"ph\":\"B\"").size() == 0);
    }
    return count;
  };
  CHECK(crossing({skip, skip}) == 0);
  CHECK(crossing({skip, active}) == 0);
  CHECK(crossing({skip, active_and_save}) == 0);
  CHECK(crossing({active, skip}) == 1);
  CHECK(crossing({warmup, active}) == 1);
  CHECK(crossing({active, active_and_save}) == 1);
  CHECK(crossing({active_and_save, skip}) == 1);
  CHECK(crossing({active_and_save, active}) == 1);
}

TEST_CASE("marker: its own actions decide, and by default the batch that is saved is recorded") {
  using enum Action;
  MarkerOptions only_active;
  only_active.actions = Actions{active};
  MarkerOptions always;
  always.actions = Actions{skip, warmup, active, active_and_save};
  const Marker some("some", "", only_active);
  const Marker usual("usual");
  const Marker all("all", "", always);
  const std::vector<Events> files =
      record_batches({skip, warmup, active, active_and_save}, [&](std::uint64_t) {
        const Scope a(some);
        const Scope b(usual);
        const Scope c(all);
      });
  REQUIRE(files.size() == 1);
  CHECK(files[0].count("some", "X") == 1);
  CHECK(files[0].count("usual", "X") == 3);
  CHECK(files[0].count("all", "X") == 4);  // also what came before the cycle began
  CHECK(files[0].of("usual", "X").with(R"("batch":3})").size() == 1);
}

TEST_CASE("marker: instants on start and finish have the times of the duration") {
  const Events events = events_of([](Session&) {
    const Marker marker("both", "", options_with(true, true));
    const Scope scope(marker);
  });
  const Events instants = events.of("both", "i");
  REQUIRE(instants.size() == 2);
  REQUIRE(events.count("both", "X") == 1);
  const std::string span = events.of("both", "X")[0];
  CHECK(nanoseconds(instants[0], "ts") == nanoseconds(span, "ts"));
  CHECK(nanoseconds(instants[1], "ts") == nanoseconds(span, "ts") + nanoseconds(span, "dur"));
}

TEST_CASE("marker: a long-running one is B and E in one file, and whole in a later one") {
  using enum Action;
  const Marker marker("event/epoch", "", options_with(false, false, true));
  SUBCASE("in one file") {
    const std::vector<Events> files =
        record_batches({active, active_and_save}, [&](std::uint64_t batch) {
          if (batch == 0) marker.start();
          if (batch == 1) marker.finish();
        });
    REQUIRE(files.size() == 1);
    CHECK(files[0].count("event/epoch", "B") == 1);
    CHECK(files[0].count("event/epoch", "E") == 1);
    CHECK(files[0].count("event/epoch", "X") == 0);
  }
  SUBCASE("in two") {
    const std::vector<Events> files =
        record_batches({active_and_save, active, active_and_save}, [&](std::uint64_t batch) {
          if (batch == 0) marker.start();
          if (batch == 1) marker.finish();
        });
    REQUIRE(files.size() == 2);
    CHECK(files[0].count("event/epoch", "B") == 1);
    // The slice ends where its file is cut; its whole length is in the other file
    // (cut_slices_test.cpp).
    CHECK(files[0].count("event/epoch", "E") == 1);
    CHECK(files[0].of("event/epoch", "E").with("\"cut_id\":").size() == 1);
    CHECK(files[1].count("event/epoch", "E") == 0);
    REQUIRE(files[1].count("event/epoch", "X") == 1);
    CHECK(nanoseconds(files[1].of("event/epoch", "X")[0], "ts") ==
          nanoseconds(files[0].of("event/epoch", "B")[0], "ts"));
  }
}

TEST_CASE("marker: finish without start is told once a marker and counted") {
  const TemporaryFolder folder;
  std::vector<std::string> log;
  Options options = options_for(folder);
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const Marker marker("lonely");
  marker.finish();
  marker.finish();
  marker.start();
  marker.finish();
  std::thread([&] { marker.finish(); }).join();
  session.close();
  CHECK(session.status().misuses == 3);
  CHECK(log == std::vector<std::string>{"marker 'lonely': finish() without start() in this thread "
                                        "does nothing (told once a marker)"});
  CHECK(Events::of_file(only_trace(session)).count("lonely", "X") == 1);
}

TEST_CASE("marker: a scope of an epoch that begins before its position is counted and told") {
  const TemporaryFolder folder;
  std::vector<std::string> log;
  Options options = options_for(folder);
  options.log = [&](const std::string& line) { log.push_back(line); };
  options.schedule = cyclic_schedule({.wait = 0, .warmup = 0, .active = 2, .repeat = 1});
  std::string name = "epoch";
  Position at;
  SUBCASE("the recorder does not know where an epoch ends") {}
  SUBCASE("the recorder knows where an epoch ends") {
    name = "epoch of four";
    at.epoch_batches = 4;
  }
  Session session(options);
  const Marker epoch = Marker::of(name);
  const Marker between("between epochs");
  const Marker warm("warm", "", {.actions = {Action::warmup}});
  const auto train = [&] {
    for (at.batch_in_epoch = 0; at.batch_in_epoch < 4;) {
      session.batch_begin(at);
      ++at.batch, ++at.batch_in_epoch;
      session.batch_end(at);
    }
    { const Scope scope(between); }  // the training does not want it
    ++at.epoch;
    at.batch_in_epoch = 0;
  };
  for (int i = 0; i < 3; ++i) {
    const Scope scope(epoch);
    const Scope other(warm);
    session.set_position(at);
    train();
  }
  for (int i = 0; i < 3; ++i) {
    session.set_position(at);
    const Scope scope(epoch);
    train();
  }
  session.close();
  CHECK(session.status().misuses == 2);
  CHECK(log == std::vector<std::string>{
                   "marker '" + name +
                   "': a scope that begins before set_position() or batch_begin() says its epoch "
                   "is not recorded (told once a marker)"});
  std::size_t written = 0;
  for (const std::string& file : files_in(folder.path()))
    written += Events::of_file(folder.path(file)).count(name, "X");
  CHECK(written == 4);
}

TEST_CASE("marker: names of any bytes give strict JSON") {
  const Events events = events_of([](Session&) {
    for (const char* name :
         {"quote\" back\\slash", "new\nline \x01", "caf\xc3\xa9", "bad \xff\xfe"}) {
      const Marker marker = Marker::of(name, "c\"at");
      const Scope scope(marker);
    }
  });
  CHECK(events.with(R"("name":"quote\" back\\slash","cat":"c\"at")").size() == 1);
  CHECK(events.with(R"("name":"new\nline \u0001")").size() == 1);
  CHECK(events.with("caf\xc3\xa9").size() == 1);
  CHECK(events.with("bad \xef\xbf\xbd\xef\xbf\xbd").size() == 1);
}

TEST_CASE("marker: one of a name that is long is written whole") {
  const std::string name(100'000, 'n');
  const Events events = events_of([&](Session&) {
    const Marker marker = Marker::of(name);
    for (int i = 0; i < 20; ++i) const Scope scope(marker);
  });
  CHECK(events.count(name, "X") == 20);
}

TEST_CASE("marker: macros record scopes and instants") {
  const Events events = events_of([](Session&) {
    for (int i = 0; i < 3; ++i) {
      TRACELOOM_SCOPE("macro");
      TRACELOOM_SCOPE("nested macro", "category");
      TRACELOOM_INSTANT("macro instant", "category");
    }
  });
  CHECK(events.count("macro", "X") == 3);
  CHECK(events.count("nested macro", "X") == 3);
  CHECK(events.of("macro instant", "i").with(R"("cat":"category")").size() == 3);
}

TEST_CASE("marker: a scope that is moved or abandoned is recorded once, or never") {
  const Events events = events_of([](Session&) {
    const Marker marker("moved");
    Scope first(marker);
    Scope second(std::move(first));
    second.finish();
    second.finish();
    Scope third(marker);
    third.abandon();
  });
  CHECK(events.count("moved", "X") == 1);
}

TEST_CASE("counter: each key has its value, and what is no number is left out") {
  const Events events = events_of([](Session&) {
    const Counter counter("memory", "mem", {"a", "b \"2\"", "c", "d", "e", "f", "g"});
    counter.record(1, 2.5, -3, 4, 5, 6, 1e300);
    counter.record(1, std::numeric_limits<double>::quiet_NaN(), 3);
    counter.record(std::numeric_limits<double>::infinity());
    const Counter one("one", "", {"value"});
    one.record(1, 2, 3);  // more values than keys
  });
  const Events memory = events.of("memory", "C");
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].find(R"("args":{"a":1,"b \"2\"":2.5,"c":-3,"d":4,"e":5,"f":6,"g":1e+300}})") !=
        std::string::npos);
  CHECK(memory[1].find(R"("args":{"a":1,"c":3}})") != std::string::npos);
  CHECK(events.of("one", "C")[0].find(R"("args":{"value":1}})") != std::string::npos);
}

TEST_CASE("counter: values stay with their event where a chunk ends") {
  const Events events = events_of([](Session&) {
    const Counter counter("wide", "", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    for (int i = 0; i < 3000; ++i) counter.record(i, 1, 2, 3, 4, 5, 6, 7, 8, -i);
  });
  const Events wide = events.of("wide", "C");
  REQUIRE(wide.size() == 3000);
  for (const int i : {0, 1, 681, 682, 683, 2999})
    CHECK(wide[static_cast<std::size_t>(i)].find(
              "{\"0\":" + std::to_string(i) + ",\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6," +
              "\"7\":7,\"8\":8,\"9\":" + std::to_string(-i) + "}") != std::string::npos);
}

TEST_CASE("timed: each batch is one span, without its use and without the end of the range") {
  const Events events = events_of([](Session&) {
    static const Marker loading("event/dataloader");
    static const Marker use("use");
    std::list<int> loader{1, 2, 3};
    int sum = 0;
    for (int& batch : timed(loader, loading)) {
      const Scope scope(use);
      sum += batch;
      batch = 0;
    }
    CHECK(sum == 6);
    CHECK(loader == std::list<int>{0, 0, 0});
    std::list<int> empty;
    for (const int batch : timed(empty, loading)) sum += batch;
  });
  const Events loads = events.of("event/dataloader", "X");
  const Events uses = events.of("use", "X");
  REQUIRE(loads.size() == 3);
  REQUIRE(uses.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(nanoseconds(loads[i], "ts") + nanoseconds(loads[i], "dur") <= nanoseconds(uses[i], "ts"));
    if (i > 0)
      CHECK(nanoseconds(uses[i - 1], "ts") + nanoseconds(uses[i - 1], "dur") <=
            nanoseconds(loads[i], "ts"));
  }
}

TEST_CASE("timed: a loader that makes batches when it is asked is asked within the span") {
  struct Generator {
    struct Iterator {
      int i = 0;
      const Marker* inside = nullptr;
      std::string operator*() const {
        const Scope scope(*inside);
        return std::string(static_cast<std::size_t>(i), 'x');
      }
      Iterator& operator++() {
        ++i;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return i != other.i; }
    };
    const Marker* inside;
    Iterator begin() const { return {1, inside}; }
    Iterator end() const { return {4, inside}; }
  };
  const Events events = events_of([](Session&) {
    const Marker loading("loading");
    const Marker inside("inside");
    const Generator loader{&inside};
    std::string all;
    for (const std::string& batch : timed(loader, loading)) all += batch + ",";
    CHECK(all == "x,xx,xxx,");
  });
  const Events loads = events.of("loading", "X");
  const Events inside = events.of("inside", "X");
  REQUIRE(loads.size() == 3);
  REQUIRE(inside.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(nanoseconds(loads[i], "ts") <= nanoseconds(inside[i], "ts"));
    CHECK(nanoseconds(loads[i], "ts") + nanoseconds(loads[i], "dur") >=
          nanoseconds(inside[i], "ts") + nanoseconds(inside[i], "dur"));
  }
}

TEST_CASE("timed_next: the call that finds nothing more is no batch") {
  const Events events = events_of([](Session&) {
    const Marker loading("loading");
    int left = 3;
    int sum = 0;
    while (const auto batch = timed_next(
               loading, [&] { return left > 0 ? std::optional<int>(left--) : std::nullopt; }))
      sum += *batch;
    CHECK(sum == 6);
  });
  CHECK(events.count("loading", "X") == 3);
}
