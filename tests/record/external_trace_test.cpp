#include "record/files/event_sources.h"
#include "record/recorded.h"
#include "support/gzip_text.h"

#include <fmt/format.h>

using namespace traceloom;
using namespace traceloom::record;

namespace {

std::vector<std::string> copied(const std::string& path, std::int64_t rank) {
  std::vector<std::string> events;
  copy_external_trace(path, rank, [&](std::string_view event) { events.emplace_back(event); });
  return events;
}

constexpr std::string_view kTorch = R"json({"schemaVersion": 1, "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 812, "tid": 0, "ts": 1.5, "args": {"name": "python"}},
  {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 1.5, "args": {"name": "python"}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 812, "tid": 813, "ts": 2.250, "dur": 1.125},
  {"ts": "3", "ph": "X", "cat": "kernel", "name": "gemm", "tid": 7, "pid": 0, "dur": 2},
  {"ph": "i", "name": "x", "pid": "Spans", "tid": "PyTorch Profiler (0)", "ts": 9}
], "baseTimeNanoseconds": 1700000000000000123}
)json";

}  // namespace

TEST_CASE(
    "external_trace: the process becomes the rank, others stay apart, times count from 1970") {
  const TemporaryFolder folder;
  const std::vector<std::string> expected{
      R"({"ph": "M", "name": "process_name", "pid": 2097157, "tid": 0, "ts": 1700000000000001.623, "args": {"name": "python"}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 813, "ts": 1700000000000002.373, "dur": 1.125})",
      R"({"ts": 1700000000000003.123, "ph": "X", "cat": "kernel", "name": "gemm", "tid": 7, "pid": 2097157, "dur": 2})",
      R"json({"ph": "i", "name": "x", "pid": 4194309, "tid": "PyTorch Profiler (0)", "ts": 1700000000000009.123})json"};
  CHECK(copied(folder.write("a.json", kTorch), 5) == expected);
  CHECK(copied(folder.write("a.json.gz", gzip(kTorch)), 5) == expected);
}

TEST_CASE("external_trace: a list that is not closed, or cut in an event, gives what is whole") {
  const TemporaryFolder folder;
  const std::string event =
      R"({"name":"a","ph":"X","pid":1,"tid":1,"ts":1700000000000000.5,"dur":1})";
  const std::string rewritten =
      R"({"name":"a","ph":"X","pid":3,"tid":1,"ts":1700000000000000.5,"dur":1})";
  for (const char* end : {"]", "", ",", "\n"})
    CHECK(copied(folder.write("a.json", "[\n" + event + end), 3) ==
          std::vector<std::string>{rewritten});
  std::vector<std::string> events;
  const auto copy = [&](const std::string& rest) {
    events.clear();
    try {
      copy_external_trace(folder.write("a.json", "[\n" + event + rest), 3,
                          [&](std::string_view text) { events.emplace_back(text); });
    } catch (const ImperfectTrace& error) {
      return std::string(error.what());
    }
    return std::string("whole");
  };
  CHECK(copy("]") == "whole");
  CHECK(copy(",\n{\"name\":\"b\",\"ph") ==
        folder.path("a.json") + ": byte " + std::to_string(event.size() + 4) +
            ": the file is cut inside an event; everything before it was kept");
  CHECK(events == std::vector<std::string>{rewritten});
  CHECK(copy(",1,2]") == folder.path("a.json") + ": byte " + std::to_string(event.size() + 3) +
                             ": 2 times: element of the event list that is not an object; skipped");
  CHECK(events == std::vector<std::string>{rewritten});
}

TEST_CASE("external_trace: an event without pid gets the rank, one without time keeps none") {
  const TemporaryFolder folder;
  CHECK(
      copied(
          folder.write(
              "a.json",
              R"([{"name":"a","ph":"X","pid":1,"ts":1},{"name":"b","ph":"M","pid":1},{ "name":"c","ph":"X","ts":2},{"name":"process_name","ph":"M"}])"),
          0) == std::vector<std::string>{R"({"name":"a","ph":"X","pid":0,"ts":1})",
                                         R"({"name":"b","ph":"M","pid":0})",
                                         R"({"pid":0, "name":"c","ph":"X","ts":2})"});
  CHECK(copied(folder.write("b.json", R"([{"name":"a","ph":"X","ts":1,"args":{"pid":7}}])"), 4) ==
        std::vector<std::string>{R"({"pid":4,"name":"a","ph":"X","ts":1,"args":{"pid":7}})"});
}

TEST_CASE("external_trace: a base time that is none is told, and moves nothing") {
  const TemporaryFolder folder;
  std::vector<std::string> events;
  const auto told = [&](const std::string& base, const std::string& event) {
    events.clear();
    try {
      copy_external_trace(
          folder.write("a.json", fmt::format(R"({{"traceEvents":[{}],"baseTimeNanoseconds":{}}})",
                                             event, base)),
          3, [&](std::string_view text) { events.emplace_back(text); });
    } catch (const ImperfectTrace& error) {
      return error.problem();
    }
    return std::string("whole");
  };
  const std::string event = R"({"pid":3,"ph":"i","ts":2.5})";
  const std::string stays = ", no number of nanoseconds; its times stay as they are";
  for (const char* base : {"1e18", "9223372036854775808", "null", "\"soon\"", "\"\""}) {
    CAPTURE(base);
    CHECK(told(base, event) == fmt::format("baseTimeNanoseconds is {}{}", base, stays));
    CHECK(events == std::vector<std::string>{event});
  }
  CHECK(told("null", event + ",1") ==
        "element of the event list that is not an object; skipped; baseTimeNanoseconds is null" +
            stays);
  CHECK(told("\"1700000000000000000\"", event) == "whole");
  CHECK(events == std::vector<std::string>{R"({"pid":3,"ph":"i","ts":1700000000000002.5})"});
}

TEST_CASE("external_trace: what is no trace is an error that names it") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(copied(folder.path("none.json"), 0),
                    (folder.path("none.json") + ": No such file or directory").c_str());
  CHECK_THROWS(copied(folder.write("a.json", "{\"a\": 1}"), 0));
}

TEST_CASE("session: an external trace is part of the cycle's file, and a bad one ends nothing") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.rank = 5;
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const Marker marker("work");
  { const Scope scope(marker); }
  session.record_chrome_json_trace_file(folder.write("torch.json.gz", gzip(kTorch)));
  session.record_chrome_json_trace_file(folder.path("none.json"));
  session.record_chrome_json_trace_file(folder.write("cut.json", "[{\"name\":\"cut"));
  session.flush();
  { const Scope scope(marker); }
  session.close();
  const std::string text = read_trace(only_trace(session));
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  const Events events(text);
  CHECK(events.count("work", "X") == 2);
  CHECK(events.with("aten::mm").with("\"pid\": 5,").size() == 1);
  CHECK(log == std::vector<std::string>{
                   folder.path("none.json") +
                       ": No such file or directory; the external trace is left out",
                   folder.path("cut.json") +
                       ": byte 1: the file is cut inside an event; everything before it was kept"});
}

TEST_CASE("external_trace: text that is no strict JSON is mended, and told once a kind") {
  const TemporaryFolder folder;
  const std::string text =
      "[{\"name\":\"caf\xe9\",\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":2,\"dur\":1},\n"
      "{\"name\":\"tab\there\",\"ph\":\"i\",\"pid\":7,\"tid\":1,\"ts\":3},\n"
      "{\"name\":\"loss\",\"ph\":\"C\",\"pid\":7,\"tid\":1,\"ts\":4,\"args\":{\"a\":NaN,\"b\":-"
      "Infinity}},\n"
      "{\"name\":\"twice\",\"ph\":\"i\",\"ts\":5,\"ts\":6,\"pid\":7,\"args\":{\"k\":1,\"k\":2,}},\n"
      "{\"name\":\"bad \\q\",\"ph\":\"i\",\"pid\":NaN,\"tid\":1,\"ts\":7},\n"
      "{\"name\":\"nowhen\",\"ph\":\"X\",\"pid\":7,\"ts\":NaN,\"dur\":1},\n"
      "{\"name\":\"nothing\",\"pid\":7,\"ts\":8}]";
  const std::string path = folder.write("a.json", text);
  std::vector<std::string> events;
  std::string told;
  try {
    copy_external_trace(path, 3, [&](std::string_view event) { events.emplace_back(event); });
  } catch (const ImperfectTrace& error) {
    told = error.what();
  }
  CHECK(events ==
        std::vector<std::string>{
            "{\"name\":\"caf\uFFFD\",\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":2,\"dur\":1}",
            R"({"name":"tab\there","ph":"i","pid":3,"tid":1,"ts":3})",
            R"({"name":"loss","ph":"C","pid":3,"tid":1,"ts":4,"args":{"a":"NaN","b":"-Infinity"}})",
            R"({"name":"twice","ph":"i","ts":6,"pid":3,"args":{"k":2}})",
            R"({"name":"bad \\q","ph":"i","pid":2097155,"tid":1,"ts":7})"});
  for (const std::string& event : events) CHECK(is_strict_json(event));
  CHECK(told ==
        path +
            ": byte 1: comma before a closing bracket; ignored; event without a phase (ph); "
            "skipped; event without a usable ts; skipped; key that occurs twice in an event; "
            "the last one was used; bytes that are not UTF-8; replaced by U+FFFD; raw control "
            "character in a string; escaped; invalid escape in a string; repaired; 2 times: "
            "value that JSON does not have (NaN, Infinity, ...); written as a string");
}

TEST_CASE("external_trace: what is mended moves to the same times and pids as the rest") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.json",
      R"({"traceEvents": [{"ts": 2.125, "ph": "X", "name": "a", "pid": 9, "dur": 1, "args": {"x": NaN}}], "baseTimeNanoseconds": 1700000000000000000})");
  std::vector<std::string> events;
  CHECK_THROWS_AS(
      copy_external_trace(path, 4, [&](std::string_view event) { events.emplace_back(event); }),
      ImperfectTrace);
  CHECK(
      events ==
      std::vector<std::string>{
          R"({"ts":1700000000000002.125,"ph":"X","name":"a","pid":4,"dur":1,"args":{"x":"NaN"}})"});
}

TEST_CASE("session: with the worst of external traces its file is strict JSON and loses nothing") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const std::string deep(600, '[');
  session.record_chrome_json_trace_file(folder.write(
      "a.json",
      "[{\"name\":\"\xff\xc3\",\"ph\":\"X\",\"pid\":1,\"tid\":01,\"ts\":1,\"dur\":Infinity},\n"
      "{\"name\":\"deep\",\"ph\":\"i\",\"pid\":1,\"ts\":2,\"args\":{\"a\":" +
          deep + std::string(600, ']') + "}},\n{\"name\":\"\1\",\"ph\":\"i\",\"ts\":2}]"));
  const Marker marker("work");
  record_scopes(marker, 1);
  session.close();
  const std::string path = only_trace(session);
  const std::string text = read_trace(path);
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  CHECK(Events(text).count("work", "X") == 1);
  CHECK(Events(text).with("\"name\":\"deep\"").with("{\"unparsed\":").size() == 1);
  // Read once more, the file has nothing that has to be repaired or left out: the copy does not
  // throw.
  CHECK(copied(path, 0).size() >= 4);
  REQUIRE(log.size() == 1);
  CHECK(log[0].starts_with(folder.path("a.json") + ": byte 1: "));
}

TEST_CASE("external_trace: what it says of its rank and clock is not said of the file") {
  const TemporaryFolder folder;
  const std::string name = R"({"name":"thread_name","ph":"M","pid":5,"tid":1,"args":{"name":"a"}})";
  std::string text = R"([{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"a"}})";
  for (const std::string_view each :
       {"global_rank", "clock_sync_timestamp_us", "clock_sync_error_bound", "clock_sync_rounds",
        "clock_pairs", "clock_source", "host", "ntp", "recorder"})
    text += ",{\"name\":\"" + std::string(each) +
            "\",\"ph\":\"M\",\"ts\":1,\"pid\":1,\"args\":{\"value\":9}}";
  text += R"(,{"name":"host","ph":"X","ts":1,"dur":1,"pid":1,"tid":1}])";
  CHECK(
      copied(folder.write("a.json", text), 5) ==
      std::vector<std::string>{name, R"({"name":"host","ph":"X","ts":1,"dur":1,"pid":5,"tid":1})"});
}
