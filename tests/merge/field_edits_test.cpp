#include "merge/field_edits.h"

#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Of one event at the time 0, and whether it counted as bad_field.
struct Written {
  std::string text;
  bool is_counted;
};

Written written(const std::string& event) {
  const MergedCase merged("[" + event + "]");
  REQUIRE(merged.events().size() == 1);
  const Texts problems = merged.problems();
  const bool is_counted = problems == Texts{"bad_field 1 at 1"};
  CHECK((is_counted || problems.empty()));
  return {merged.events()[0], is_counted};
}

std::string text_of_mended(const std::string& event) {
  const Written one = written(event);
  CHECK(one.is_counted);
  return one.text;
}

std::string text_of_good(const std::string& event) {
  const Written one = written(event);
  CHECK_FALSE(one.is_counted);
  return one.text;
}

}  // namespace

TEST_CASE("field_edits: thread clocks are numbers, and stay what they are") {
  CHECK(text_of_good(R"({"ph":"X","ts":5,"dur":1,"tts":123.4567,"tdur":1e400,"pid":1,"tid":7})") ==
        R"({"ph":"X","ts":0,"dur":1,"tts":123.4567,"tdur":1e400,"pid":0,"tid":7})");
  CHECK(text_of_good(R"({"ph":"X","ts":5,"dur":1,"tts":"12.5","tdur":"3","pid":1,"tid":7})") ==
        R"({"ph":"X","ts":0,"dur":1,"tts":12.5,"tdur":3,"pid":0,"tid":7})");
  CHECK(text_of_mended(R"({"ph":"X","ts":5,"dur":1,"tts":null,"tdur":"x","pid":1,"tid":7})") ==
        R"({"ph":"X","ts":0,"dur":1,"source_tts":null,"source_tdur":"x","pid":0,"tid":7})");
  CHECK(text_of_mended(R"({"ph":"i","ts":5,"tts":{},"dur":[1],"pid":1,"tid":7})") ==
        R"({"ph":"i","ts":0,"source_tts":{},"source_dur":[1],"pid":0,"tid":7})");
}

TEST_CASE("field_edits: metadata is mended as well") {
  const MergedCase merged(
      R"([{"ph":"M","name":"m","tts":"x","dur":"0","ts":"y","pid":1,"tid":7},{"ph":"i","ts":0,"pid":1,"tid":7}])");
  CHECK(merged.metadata() ==
        Texts{R"({"ph":"M","name":"m","source_tts":"x","dur":0,"ts":0,"pid":0,"tid":7})"});
  CHECK(merged.problems() == Texts{"bad_field 1 at 1"});
}

TEST_CASE("field_edits: flow_in and flow_out are true or false") {
  const auto flow = [](const char* in, const char* out) {
    return std::string(R"({"ph":"X","ts":0,"dur":1,"bind_id":549755813889,"flow_in":)") + in +
           R"(,"flow_out":)" + out + R"(,"pid":0,"tid":7})";
  };
  const auto source = [](const char* in, const char* out) {
    return std::string(R"({"ph":"X","ts":5,"dur":1,"bind_id":1,"flow_in":)") + in +
           R"(,"flow_out":)" + out + R"(,"pid":1,"tid":7})";
  };
  CHECK(text_of_good(source("true", "false")) == flow("true", "false"));
  CHECK(text_of_mended(source("1", "0")) == flow("true", "false"));
  CHECK(text_of_mended(source(R"("true")", "null")) == flow("true", "false"));
  CHECK(text_of_mended(source("0.0", R"("false")")) == flow("false", "false"));
}

TEST_CASE("field_edits: an instant has a scope that viewers know") {
  for (const char* const phase : {"i", "I", "R"}) {
    const std::string begin = std::string(R"({"ph":")") + phase + R"(","ts":0,"s":)";
    CHECK(text_of_good(begin + R"("p","pid":1,"tid":7})") == begin + R"("p","pid":0,"tid":7})");
    CHECK(text_of_good(begin + R"("g","pid":1,"tid":7})") == begin + R"("g","pid":0,"tid":7})");
    CHECK(text_of_mended(begin + R"("x","pid":1,"tid":7})") == begin + R"("t","pid":0,"tid":7})");
    CHECK(text_of_mended(begin + R"(null,"pid":1,"tid":7})") == begin + R"("t","pid":0,"tid":7})");
  }
}

TEST_CASE("field_edits: old async events become new ones, apart by name and scope") {
  const MergedCase merged(
      R"([{"ph":"S","cat":"c","name":"a","id":1,"ts":0,"pid":1,"tid":7},
          {"ph":"T","cat":"c","name":"a","id":1,"ts":1,"pid":1,"tid":7,"args":{"step":"s"}},
          {"ph":"p","cat":"c","name":"a","id":1,"ts":2,"pid":1,"tid":7},
          {"ph":"F","name":"a","id":"1","ts":3,"pid":1,"tid":7},
          {"ph":"S","cat":"c","name":"b","id":1,"ts":3,"pid":1,"tid":7},
          {"ph":"S","cat":"c","name":"b","id":1,"scope":"s","ts":3,"pid":1,"tid":7},
          {"ph":"b","cat":"c","name":"b","id":1,"ts":3,"pid":1,"tid":7},
          {"ph":"b","cat":"c","name":"b","id":1,"scope":"s","ts":3,"pid":1,"tid":7},
          {"ph":"S","cat":"c","name":"b","ts":3,"pid":1,"tid":7}])");
  CHECK(
      merged.events() ==
      Texts{
          R"({"ph":"b","cat":"c","name":"a","id2":{"local": "0x6"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"n","cat":"c","name":"a","id2":{"local": "0x6"},"ts":1,"pid":0,"tid":7,"args":{"step":"s"}})",
          R"({"ph":"n","cat":"c","name":"a","id2":{"local": "0x6"},"ts":2,"pid":0,"tid":7})",
          R"({"cat": "", "ph":"e","name":"a","id2":{"local": "0x5"},"ts":3,"pid":0,"tid":7})",
          R"({"ph":"b","cat":"c","name":"b","id2":{"local": "0x4"},"ts":3,"pid":0,"tid":7})",
          R"({"ph":"b","cat":"c","name":"b","id2":{"local": "0x3"},"scope":"s","ts":3,"pid":0,"tid":7})",
          R"({"ph":"b","cat":"c","name":"b","id2":{"local": "0x1"},"ts":3,"pid":0,"tid":7})",
          R"({"ph":"b","cat":"c","name":"b","id2":{"local": "0x2"},"scope":"s","ts":3,"pid":0,"tid":7})",
          R"({"ph":"S","cat":"c","name":"b","ts":3,"pid":0,"tid":7})"});
  CHECK(merged.problems().empty());
}

TEST_CASE("field_edits: a T with a duration is a thread state, one with nothing an instant") {
  CHECK(text_of_good(R"({"ph":"T","name":"R","ts":5,"dur":1,"pid":1,"tid":7})") ==
        R"({"ph":"T","name":"R","ts":0,"dur":1,"pid":0,"tid":7})");
  CHECK(text_of_good(R"({"ph":"T","name":"R","ts":5,"pid":1,"tid":7})") ==
        R"({"ph":"i","name":"R","ts":0,"pid":0,"tid":7})");
}

TEST_CASE("field_edits: clock syncs move with their issue_ts, which may be the first time") {
  const MergedCase merged(
      R"([{"ph":"c","ts":1010,"pid":1,"tid":7,"args":{"sync_id":"A","issue_ts":1000}},
          {"ph":"c","ts":1020,"pid":1,"tid":7,"args":{"sync_id":"B","issue_ts":5000000000}},
          {"ph":"c","ts":1020,"pid":1,"tid":7,"args":{"sync_id":"C","issue_ts":"x"}}])");
  CHECK(
      merged.events() ==
      Texts{
          R"({"s": "p", "ph":"i","ts":10,"pid":0,"tid":7,"args":{"sync_id":"A","issue_ts":0}})",
          R"({"s": "p", "ph":"i","ts":20,"pid":0,"tid":7,"args":{"sync_id":"B","issue_ts":5000000000}})",
          R"({"s": "p", "ph":"i","ts":20,"pid":0,"tid":7,"args":{"sync_id":"C","issue_ts":"x"}})"});
}

TEST_CASE("field_edits: long values are no trouble") {
  const std::string id(5000, 'x');
  CHECK(text_of_good(R"({"ph":"X","ts":0,"dur":1,"sf":")" + id + R"(","pid":1,"tid":7})") ==
        R"({"ph":"X","ts":0,"dur":1,"sf":"f0_)" + id + R"(","pid":0,"tid":7})");
}
