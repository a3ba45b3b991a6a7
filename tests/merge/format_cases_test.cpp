// These are the cases of the reference on the format, by their numbers there: values, strings,
// times.
#include "base/problems.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Returns a list with the event after an instant at the time 0.
std::string list(const std::string& event) {
  return R"([{"ph":"i","ts":0,"pid":1,"tid":7,"name":"first"},)" + event + "]";
}

// Returns what is written for that event; an empty text if it is left out.
std::string written_text(const std::string& event) {
  const Texts events = MergedCase(list(event)).events();
  REQUIRE(events.size() <= 2);
  REQUIRE(events.front() == R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":"first"})");
  return events.size() == 2 ? events[1] : "";
}

Texts problems(const std::string& event) {
  return MergedCase(list(event)).problems();
}

// The place after the instant of list().
constexpr std::string_view kAt = " 1 at 50";

std::string at(std::string_view kind) {
  return std::string(kind) + std::string(kAt);
}

}  // namespace

TEST_CASE("format case 5: elements that are no objects are dropped and counted") {
  const MergedCase merged(
      R"([null,"text",5,[1],true,{"ph":"i","ts":1,"pid":1,"tid":7,"name":"a"}])");
  CHECK(merged.events() == Texts{R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":"a"})"});
  CHECK(merged.problems() == Texts{"not_an_object 5 at 1"});
}

TEST_CASE("format case 8: bytes that are not UTF-8 become U+FFFD") {
  const std::string event = "{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":7,\"name\":\"a\xff z\"}";
  CHECK(written_text(event) ==
        "{\"ph\":\"i\",\"ts\":1,\"pid\":0,\"tid\":7,\"name\":\"a\xef\xbf\xbd z\"}");
  CHECK(problems(event) == Texts{at("invalid_utf8")});
}

TEST_CASE("format case 9: raw control characters in strings are escaped") {
  const std::string event = "{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":7,\"name\":\"a\n\t\x01z\"}";
  CHECK(written_text(event) == R"({"ph":"i","ts":1,"pid":0,"tid":7,"name":"a\n\t\u0001z"})");
  CHECK(problems(event) == Texts{at("control_character")});
}

TEST_CASE("format case 10: an unknown escape is a backslash and its character") {
  const std::string event = R"({"ph":"i","ts":1,"pid":1,"tid":7,"name":"C:\_x\cuda"})";
  CHECK(written_text(event) == R"({"ph":"i","ts":1,"pid":0,"tid":7,"name":"C:\\_x\\cuda"})");
  CHECK(problems(event) == Texts{at("bad_escape")});
}

TEST_CASE("format case 11: an event with a quote inside a name is dropped, the next one is read") {
  const std::string bad = R"j({"ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"name":"lib("_x")"})j";
  const std::string good = R"(,{"ph":"i","ts":2,"pid":1,"tid":7,"name":"next"})";
  const MergedCase merged(list(bad + good));
  CHECK(merged.events() == Texts{R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":"first"})",
                                 R"({"ph":"i","ts":2,"pid":0,"tid":7,"name":"next"})"});
  CHECK(merged.problems() == Texts{at("malformed_event")});
  CHECK(merged.summary().files[0].problems.has_loss());  // --strict refuses it
}

TEST_CASE("format case 12: NaN is text in args, no value of a counter, and no time") {
  const std::string in_args =
      R"({"ph":"i","name":"a","ts":1,"pid":1,"tid":7,"args":{"a":NaN,"b":-Infinity,"c":nan}})";
  CHECK(
      written_text(in_args) ==
      R"({"ph":"i","name":"a","ts":1,"pid":0,"tid":7,"args":{"a":"NaN","b":"-Infinity","c":"nan"}})");
  CHECK(problems(in_args) == Texts{at("not_json_value")});

  const std::string counter = R"({"ph":"C","ts":1,"pid":1,"name":"c","args":{"a":NaN}})";
  CHECK(written_text(counter).empty());
  CHECK(problems(counter) == Texts{at("bad_counter")});
  const std::string half = R"({"ph":"C","ts":1,"pid":1,"name":"c","args":{"a":Infinity,"b":2}})";
  CHECK(written_text(half) == R"({"ph":"C","ts":1,"pid":0,"name":"c","args":{"b":2}})");
  CHECK(problems(half) == Texts{at("bad_counter"), at("not_json_value")});

  const std::string time = R"({"ph":"i","name":"a","ts":NaN,"pid":1,"tid":7})";
  CHECK(written_text(time).empty());
  CHECK(problems(time) == Texts{at("bad_timestamp")});
}

TEST_CASE("format case 13: surrogate pairs become UTF-8, half ones U+FFFD") {
  const std::string pair = R"({"ph":"i","ts":1,"pid":1,"tid":7,"name":"\ud83d\ude00"})";
  CHECK(written_text(pair) ==
        "{\"ph\":\"i\",\"ts\":1,\"pid\":0,\"tid\":7,\"name\":\"\xf0\x9f\x98\x80\"}");
  CHECK(problems(pair).empty());
  const std::string half = R"({"ph":"i","ts":1,"pid":1,"tid":7,"name":"\ud83d!"})";
  CHECK(written_text(half) ==
        "{\"ph\":\"i\",\"ts\":1,\"pid\":0,\"tid\":7,\"name\":\"\xef\xbf\xbd!\"}");
  CHECK(problems(half) == Texts{at("bad_escape")});
}

TEST_CASE("format case 14: of a key that stands twice the last one is taken") {
  const std::string event =
      R"({"ph":"i","name":"a","ts":1,"pid":1,"tid":7,"ts":3,"args":{"a":1,"a":2}})";
  CHECK(written_text(event) == R"({"ph":"i","name":"a","pid":0,"tid":7,"ts":3,"args":{"a":2}})");
  CHECK(problems(event) == Texts{at("duplicate_key")});
  // The keys stand in args alone, in many events of one shape.
  const std::string in_args =
      R"({"ph":"i","name":"a","ts":3,"pid":1,"tid":7,"args":{"a":1,"b":{"c":0},"a":2}})";
  std::string list = "[" + in_args;
  for (int i = 0; i < 50; ++i) list += ",\n" + in_args;
  const MergedCase many(list + "]");
  CHECK(many.problems() == Texts{"duplicate_key 51 at 1"});
  CHECK(many.events() ==
        Texts(51, R"({"ph":"i","name":"a","ts":0,"pid":0,"tid":7,"args":{"b":{"c":0},"a":2}})"));
}

TEST_CASE(
    "format case 14: in names of threads and values of counters, too, the last one is taken") {
  const MergedCase merged(
      R"([{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"one","n\u0061me":"two"}},
          {"ph":"i","ts":1,"pid":1,"tid":7,"name":"i"},
          {"ph":"C","ts":2,"pid":1,"name":"c","args":{"v":1,"v":NaN}},
          {"ph":"C","ts":3,"pid":1,"name":"c","args":{"v":"x","v":2}}])");
  CHECK(merged.text().find("\"two\"") != std::string::npos);
  CHECK(merged.text().find("\"one\"") == std::string::npos);
  CHECK(merged.events() == Texts{R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":"i"})",
                                 R"({"ph":"C","ts":2,"pid":0,"name":"c","args":{"v":2}})"});
  CHECK(merged.problems() == Texts{"duplicate_key 1 at 227", "bad_counter 1 at 156"});
}

TEST_CASE("format case 15: times in quotes are numbers, in events of all phases") {
  const MergedCase merged(
      R"([{"ph":"X","name":"a","ts":"1778655624745710.730","dur":"5.16","pid":1,"tid":7},
          {"ph":"i","name":"a","ts":"1778655624745711","dur":"0","tts":"7.5","tdur":"1","pid":1,"tid":7},
          {"ph":"C","ts":"1778655624745711","pid":1,"name":"c","args":{"v":"5"}},
          {"ph":"b","name":"a","id":1,"ts":"1778655624745711","dur":"","pid":1,"tid":7},
          {"ph":"O","name":"a","id":1,"ts":"1778655624745711","tts":null,"pid":1,"tid":7}])");
  CHECK(merged.value("baseTimeNanoseconds") == "1778655624745710000");
  CHECK(
      merged.events() ==
      Texts{
          R"({"ph":"X","name":"a","ts":0.73,"dur":5.16,"pid":0,"tid":7})",
          R"({"ph":"i","name":"a","ts":1,"dur":0,"tts":7.5,"tdur":1,"pid":0,"tid":7})",
          R"({"ph":"C","ts":1,"pid":0,"name":"c","args":{"v":"5"}})",
          R"({"ph":"b","name":"a","id2":{"local": "0x1"},"ts":1,"source_dur":"","pid":0,"tid":7})",
          R"({"ph":"O","name":"a","id":"0x1","ts":1,"source_tts":null,"pid":0,"tid":7})",
          R"({"name": "a", "ph": "e", "id2": {"local": "0x1"}, "ts": 5.89, "pid": 0, )"
          R"("tid": 7, "added": true, "unclosed": true})"});
  CHECK(merged.problems() == Texts{"bad_field 2 at 279"});
}

TEST_CASE("format case 16: exponents, whole numbers with a point, and minus 0") {
  CHECK(written_text(R"({"ph":"i","name":"a","ts":1.5e3,"pid":1,"tid":7})") ==
        R"({"ph":"i","name":"a","ts":1500,"pid":0,"tid":7})");
  CHECK(written_text(R"({"ph":"X","name":"a","ts":-0.0,"dur":1e-3,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":0,"dur":0.001,"pid":0,"tid":7})");
  const MergedCase epoch(R"([{"ph":"i","name":"a","ts":1750244461563845.0,"pid":1,"tid":7}])");
  CHECK(epoch.value("baseTimeNanoseconds") == "1750244461563845000");
  CHECK(epoch.problems().empty());
}

TEST_CASE("format case 17: Kineto's broken negatives are read, and no duration is negative") {
  const MergedCase merged(R"([{"ph":"X","name":"a","ts":0.-66,"dur":-12.-345,"pid":1,"tid":7},
                              {"ph":"i","name":"a","ts":0,"pid":1,"tid":7}])");
  CHECK(merged.value("baseTimeNanoseconds") == "-1000");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"a","ts":0.934,"dur":0,"pid":0,"tid":7})",
                                 R"({"ph":"i","name":"a","ts":1,"pid":0,"tid":7})"});
  CHECK(merged.problems() == Texts{"negative_duration 1 at 1", "broken_negative 1 at 1"});
}

TEST_CASE("format case 18: many digits are rounded at the end of the slice, never garbage") {
  CHECK(written_text(
            R"({"ph":"X","name":"a","ts":1,"dur":0.4559999999999999612345678,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0.456,"pid":0,"tid":7})");
  CHECK(written_text(
            R"({"ph":"X","name":"a","ts":1.0004,"dur":0.00012345678901234567,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0.001,"pid":0,"tid":7})");
  const std::string huge =
      R"({"ph":"i","name":"a","ts":123456789012345678901234567890,"pid":1,"tid":7})";
  CHECK(written_text(huge).empty());
  CHECK(problems(huge) == Texts{at("bad_timestamp")});
}

TEST_CASE("format case 19: an event needs a time, metadata does not") {
  for (const char* const ts : {"", R"("ts":null,)", R"("ts":"abc",)"}) {
    CAPTURE(ts);
    const std::string event =
        std::string(R"({"ph":"X","name":"a",)") + ts + R"("dur":1,"pid":1,"tid":7})";
    CHECK(written_text(event).empty());
    CHECK(problems(event) == Texts{at("bad_timestamp")});
    const MergedCase merged(list(std::string(R"({"ph":"M",)") + ts +
                                 R"("name":"num_cpus","pid":1,"tid":7,"args":{"number":8}})"));
    CHECK(merged.metadata().size() == 1);
    CHECK(merged.metadata()[0].ends_with(
        R"("name":"num_cpus","pid":0,"tid":7,"args":{"number":8}})"));
    CHECK(merged.problems().empty());
  }
}

TEST_CASE(
    "format case 20: an X without a duration ends where the last event of its thread begins") {
  const MergedCase merged(
      R"([{"ph":"X","ts":1,"pid":1,"tid":7,"name":"a"},)"
      R"({"ph":"X","ts":2,"dur":null,"pid":1,"tid":7,"name":"b","args":{"n":1}},)"
      R"({"ph":"i","ts":4.5,"pid":1,"tid":7,"name":"last"},)"
      R"({"ph":"X","ts":8,"dur":9,"pid":1,"tid":8,"name":"other thread"}])");
  CHECK(merged.events() ==
        Texts{R"({"ph":"i","ts":3.5,"pid":0,"tid":7,"name":"last"})",
              R"({"ph":"X","ts":7,"dur":9,"pid":0,"tid":8,"name":"other thread"})",
              R"({"ph":"X","ts":0, "dur": 3.5,"pid":0,"tid":7,"name":"a", "unclosed": "no dur"})",
              R"({"ph":"X","ts":1,"dur":2.5,"pid":0,"tid":7,"name":"b","args":{"n":1}, )"
              R"("unclosed": "no dur"})"});
  CHECK(merged.problems() == Texts{"missing_duration 2 at 1"});
}

TEST_CASE("format case 20: an X that never ended ends with its file, and is marked") {
  const std::string text =
      R"([{"ph":"X","ts":1,"dur":7464372036854775.808,"pid":1,"tid":7,"name":"a","args":{"n":1}},)"
      R"({"ph":"X","ts":2,"pid":1,"tid":7,"name":"b","dur":1e300},)"
      R"({"ph":"X","ts":8,"dur":9,"pid":1,"tid":8,"name":"other thread"}])";
  const Texts events{
      R"({"ph":"X","ts":7,"dur":9,"pid":0,"tid":8,"name":"other thread"})",
      R"({"ph":"X","ts":0,"dur":16,"pid":0,"tid":7,"name":"a","args":{"n":1}, )"
      R"("unclosed": "never ended"})",
      R"({"ph":"X","ts":1,"pid":0,"tid":7,"name":"b","dur":15, "unclosed": "never ended"})"};
  const MergedCase merged(text);
  CHECK(merged.events() == events);
  CHECK(merged.problems() == Texts{"never_ended 2 at 1"});
  // A second merge does not change it.
  CHECK(MergedCase(merged.text()).events() == events);
}

TEST_CASE("format case 20: an X with a negative duration takes no time") {
  CHECK(written_text(R"({"ph":"X","name":"a","ts":1,"dur":-5,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0,"pid":0,"tid":7})");
  CHECK(problems(R"({"ph":"X","name":"a","ts":1,"dur":-5,"pid":1,"tid":7})") ==
        Texts{at("negative_duration")});
}
