// These tests use useless options and values, and check what they are taken for.
#include "record/buffers/clock.h"
#include "record/recorded.h"
#include "record/traceloom.h"

#include <limits>
#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("odd values: a level of compression that is none is refused") {
  const TemporaryFolder folder;
  for (const int level : {-1, 10}) {
    Options options = options_for(folder);
    options.gzip_level = level;
    const std::string text =
        "traceloom: gzip_level " + std::to_string(level) + " is not from 0 to 9";
    CHECK_THROWS_WITH(Session{options}, text.c_str());
  }
}

TEST_CASE("odd values: of more than 64 keys a counter has the first 64") {
  const TemporaryFolder folder;
  std::vector<std::string> keys(300);
  std::vector<double> values(300);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = "k" + std::to_string(i);
    values[i] = static_cast<double>(i);
  }
  Session session(options_for(folder));
  const Counter counter("many", "", keys);
  counter.record_all(values.data(), values.size());
  session.close();
  const Events events = Events::of_file(only_trace(session)).of("many", "C");
  REQUIRE(events.size() == 1);
  CHECK(events[0].ends_with("\"k62\":62,\"k63\":63}}"));
}

TEST_CASE("odd values: what began on another clock is not recorded") {
  if (!is_tsc_reliable()) return;
  const TemporaryFolder folder;
  const Marker marker("between");
  {
    const Session session(options_for(folder));
    marker.start();
  }
  Options options = options_for(folder);
  options.clock = ClockChoice::monotonic;
  Session session(options);
  marker.finish();
  session.flush();
  session.close();
  CHECK(session.status().misuses == 0);
  CHECK(session.saved_traces().size() == 1);
  CHECK(Events::of_file(only_trace(session)).count("between", "X") == 0);
}

TEST_CASE("odd values: C counters without keys are told, and counted with harmlessly") {
  CHECK(traceloom_counter_new("used", "", nullptr, 2, 0) == nullptr);
  CHECK(std::string(traceloom_last_error()) == "counter 'used': 2 keys, but no pointer to them");
  const double value = 1;
  traceloom_count(nullptr, &value, 1);
  CHECK(traceloom_counter_new("none", "", nullptr, 0, 0) != nullptr);
}

TEST_CASE("counter: of a key that stands twice the last value is written, and it is told once") {
  const TemporaryFolder folder;
  const Counter early("twice early", "", {"a", "b", "a"});
  std::vector<std::string> log;
  for (int run = 0; run < 2; ++run) {
    Options options = options_for(folder);
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session session(options);
    const Counter late("twice late", "", {"k", "k"});
    early.record(1, 2, 3);
    early.record(1, 2);
    late.record(1, 2.5);
    session.close();
    const Events events = Events::of_file(only_trace(session));
    REQUIRE(events.count("twice early", "C") == 2);
    CHECK(events.of("twice early", "C")[0].ends_with(R"("args":{"b":2,"a":3}})"));
    CHECK(events.of("twice early", "C")[1].ends_with(R"("args":{"b":2}})"));
    CHECK(events.of("twice late", "C")[0].ends_with(R"("args":{"k":2.5}})"));
  }
  CHECK(log == std::vector<std::string>{
                   "counter 'twice early': the key 'a' stands twice; its last value is written",
                   "counter 'twice late': the key 'k' stands twice; its last value is written"});
}

TEST_CASE("counter: an event without any number is lost, and no count of the file has it") {
  const TemporaryFolder folder;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<std::string> log;
  Options options = options_for(folder);
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const Counter counter("loss", "", {"a", "b"});
  counter.record(kNone, 1);
  counter.record(kNone, kInfinite);
  counter.record(-kInfinite);
  session.close();
  const Events events = Events::of_file(only_trace(session));
  REQUIRE(events.count("loss", "C") == 1);
  CHECK(events.of("loss", "C")[0].ends_with(R"("args":{"b":1}})"));
  REQUIRE(events.count("recorder", "M") == 1);
  CHECK(events.of("recorder", "M")[0].find(R"("args":{"events":1,)") != std::string::npos);
  CHECK(session.saved_traces()[0].events == 1);
  CHECK(session.status().events == 3);
  CHECK(session.status().lost == 2);
  const std::string told =
      "counter 'loss': an event without any value that is a number is not written (told once a "
      "file)";
  CHECK(log == std::vector<std::string>{told});
  CHECK(session.status().last_error == told);
}

TEST_CASE("counter: keys that are one in the file are one that stands twice") {
  const TemporaryFolder folder;
  std::vector<std::string> log;
  Options options = options_for(folder);
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const Counter counter("no utf-8", "", {"\xff", "\xfe"});
  counter.record(1, 2);
  session.close();
  const Events events = Events::of_file(only_trace(session)).of("no utf-8", "C");
  REQUIRE(events.size() == 1);
  CHECK(events[0].ends_with("\"args\":{\"\xef\xbf\xbd\":2}}"));
  CHECK(log == std::vector<std::string>{
                   "counter 'no utf-8': the key '\xff' stands twice; its last value is written"});
}
