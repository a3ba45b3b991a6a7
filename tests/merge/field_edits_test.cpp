#include "merge/edits/field_edits.h"

#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

// The text of one event at the time 0, and whether it counted as bad_field.
struct EditedEvent {
  std::string text;
  bool is_counted;
};

EditedEvent edited_event(const std::string& event) {
  const MergedCase merged("[" + event + "]");
  REQUIRE(merged.events().size() == 1);
  const Texts problems = merged.problems();
  const bool is_counted = problems == Texts{"bad_field 1 at 1"};
  CHECK((is_counted || problems.empty()));
  return {merged.events()[0], is_counted};
}

std::string text_of_mended(const std::string& event) {
  const EditedEvent one = edited_event(event);
  CHECK(one.is_counted);
  return one.text;
}

std::string text_of_good(const std::string& event) {
  const EditedEvent one = edited_event(event);
  CHECK_FALSE(one.is_counted);
  return one.text;
}

}  // namespace

TEST_CASE("field_edits: thread clocks are numbers, and stay what they are") {
  CHECK(
      text_of_good(
          R"({"ph":"X","name":"a","ts":5,"dur":1,"tts":123.4567,"tdur":1e400,"pid":1,"tid":7})") ==
      R"({"ph":"X","name":"a","ts":0,"dur":1,"tts":123.4567,"tdur":1e400,"pid":0,"tid":7})");
  CHECK(text_of_good(
            R"({"ph":"X","name":"a","ts":5,"dur":1,"tts":"12.5","tdur":"3","pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":0,"dur":1,"tts":12.5,"tdur":3,"pid":0,"tid":7})");
  CHECK(
      text_of_mended(
          R"({"ph":"X","name":"a","ts":5,"dur":1,"tts":null,"tdur":"x","pid":1,"tid":7})") ==
      R"({"ph":"X","name":"a","ts":0,"dur":1,"source_tts":null,"source_tdur":"x","pid":0,"tid":7})");
  CHECK(text_of_mended(R"({"ph":"i","name":"a","ts":5,"tts":{},"dur":[1],"pid":1,"tid":7})") ==
        R"({"ph":"i","name":"a","ts":0,"source_tts":{},"source_dur":[1],"pid":0,"tid":7})");
}

TEST_CASE("field_edits: metadata is mended as well") {
  const MergedCase merged(
      R"([{"ph":"M","name":"m","tts":"x","dur":"0","ts":"y","pid":1,"tid":7},{"ph":"i","name":"a","ts":0,"pid":1,"tid":7}])");
  CHECK(merged.metadata() ==
        Texts{R"({"ph":"M","name":"m","source_tts":"x","dur":0,"ts":0,"pid":0,"tid":7})"});
  CHECK(merged.problems() == Texts{"bad_field 1 at 1"});
}

TEST_CASE("field_edits: flow_in and flow_out are true or false") {
  const auto flow = [](const char* in, const char* out) {
    return std::string(R"({"ph":"X","name":"a","ts":0,"dur":1,"bind_id":549755813889,"flow_in":)") +
           in + R"(,"flow_out":)" + out + R"(,"pid":0,"tid":7})";
  };
  const auto source = [](const char* in, const char* out) {
    return std::string(R"({"ph":"X","name":"a","ts":5,"dur":1,"bind_id":1,"flow_in":)") + in +
           R"(,"flow_out":)" + out + R"(,"pid":1,"tid":7})";
  };
  CHECK(text_of_good(source("true", "false")) == flow("true", "false"));
  CHECK(text_of_mended(source("1", "0")) == flow("true", "false"));
  CHECK(text_of_mended(source(R"("true")", "null")) == flow("true", "false"));
  CHECK(text_of_mended(source("0.0", R"("false")")) == flow("false", "false"));
}

TEST_CASE("field_edits: an instant has a scope that viewers know") {
  for (const char* const phase : {"i", "I", "R"}) {
    const std::string begin = std::string(R"({"ph":")") + phase + R"(","name":"a","ts":0,"s":)";
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
  Texts events = merged.events();
  std::erase_if(events, [](const std::string& event) { return event.find("added") != event.npos; });
  CHECK(
      events ==
      Texts{
          R"({"ph":"b","cat":"c","name":"a","id2":{"local": "0x6"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"b","cat":"c","name":"s","id2":{"local": "0x6"},"ts":1,"pid":0,"tid":7,"args":{"step":"s"}})",
          R"({"ph":"e","cat":"c","name":"a","id2":{"local": "0x6"},"ts":2,"pid":0,"tid":7})",
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
      R"([{"ph":"c","name":"a","ts":1010,"pid":1,"tid":7,"args":{"sync_id":"A","issue_ts":1000}},
          {"ph":"c","name":"a","ts":1020,"pid":1,"tid":7,"args":{"sync_id":"B","issue_ts":5000000000}},
          {"ph":"c","name":"a","ts":1020,"pid":1,"tid":7,"args":{"sync_id":"C","issue_ts":"x"}}])");
  CHECK(
      merged.events() ==
      Texts{
          R"({"s": "p", "ph":"i","name":"a","ts":10,"pid":0,"tid":7,"args":{"sync_id":"A","issue_ts":0}})",
          R"({"s": "p", "ph":"i","name":"a","ts":20,"pid":0,"tid":7,"args":{"sync_id":"B","issue_ts":5000000000}})",
          R"({"s": "p", "ph":"i","name":"a","ts":20,"pid":0,"tid":7,"args":{"sync_id":"C","issue_ts":"x"}})"});
}

TEST_CASE("field_edits: long values are no trouble") {
  const std::string id(5000, 'x');
  CHECK(text_of_good(R"({"ph":"X","name":"a","ts":0,"dur":1,"sf":")" + id +
                     R"(","pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":0,"dur":1,"sf":"f0_)" + id + R"(","pid":0,"tid":7})");
}

TEST_CASE("field_edits: what viewers draw has a name, which is a string") {
  const std::string none = R"-("name": "(none)")-";
  for (const std::string phase : {"X", "B", "i", "I", "R", "P", "c"}) {
    CAPTURE(phase);
    const std::string rest = R"("ph":")" + phase +
                             R"(","cat":"k","ts":5,"dur":1,"id":1,"args":{"v":1},"pid":1,"tid":7})";
    const MergedCase merged("[{" + rest + R"(,{"name":null,)" + rest +
                            R"(,{"ph":"E","ts":6,"pid":1,"tid":7},)"
                            R"({"ph":"E","name":5,"ts":7,"pid":1,"tid":7}])");
    const Texts events = merged.events();
    REQUIRE(events.size() == 2);
    for (const std::string& event : events) CHECK(event.find(none) != std::string::npos);
    CHECK((events[0] + events[1]).find(R"("source_name":null)") != std::string::npos);
  }
  CHECK(text_of_mended(R"({"ph":"X","name":{"a":1},"ts":5,"dur":1,"pid":1,"tid":7})") ==
        "{" + none + R"(, "ph":"X","source_name":{"a":1},"ts":0,"dur":1,"pid":0,"tid":7})");
  CHECK(text_of_good(R"({"ph":"X","name":"","ts":5,"dur":1,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"","ts":0,"dur":1,"pid":0,"tid":7})");
}

TEST_CASE("field_edits: a category is a string, and arrows have one") {
  const std::string none = R"-({"cat": "(none)")-";
  CHECK(text_of_mended(R"({"ph":"X","name":"a","cat":null,"ts":5,"dur":1,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","source_cat":null,"ts":0,"dur":1,"pid":0,"tid":7})");
  CHECK(text_of_mended(R"({"ph":"s","name":"a","cat":7,"id":1,"ts":5,"pid":1,"tid":7})") ==
        none + R"(, "ph":"s","name":"a","source_cat":7,"id":1,"ts":0,"pid":0,"tid":7})");
  CHECK(text_of_mended(R"({"ph":"t","name":"a","id":1,"ts":5,"pid":1,"tid":7})") ==
        none + R"(, "ph":"t","name":"a","id":1,"ts":0,"pid":0,"tid":7})");
  // A begin and an end become one event; their null once stopped catapult.
  CHECK(MergedCase(R"([{"ph":"B","name":"a","cat":null,"ts":1,"pid":1,"tid":7},)"
                   R"({"ph":"E","name":"a","cat":null,"ts":3,"pid":1,"tid":7}])")
            .events() ==
        Texts{R"({"ph":"X","name":"a","source_cat":null,"ts":0, "dur": 2,"pid":0,"tid":7})"});
}

TEST_CASE("field_edits: a color is one that catapult has") {
  const auto colored = [](const std::string& key, const std::string& color) {
    return R"({"ph":"X","name":"a",")" + key + R"(":)" + color +
           R"(,"ts":0,"dur":1,"pid":0,"tid":7})";
  };
  for (const char* color : {R"("good")", R"("bad")", R"("thread_state_iowait")", R"("yellow")",
                            R"("\u0067ood")", "null", "0", "false", R"("")"}) {
    CAPTURE(color);
    CHECK(text_of_good(colored("cname", color)) == colored("cname", color));
  }
  for (const char* color : {R"("purple")", "1", "true", "{}"}) {
    CAPTURE(color);
    CHECK(text_of_mended(colored("cname", color)) == colored("source_cname", color));
  }
}

TEST_CASE("field_edits: samples, memory dumps and metadata that catapult reads have args") {
  for (const char* const phase : {"P", "v"}) {
    const std::string begin = std::string(R"({"ph":")") + phase + R"(","name":"a","ts":)";
    CHECK(text_of_mended(begin + R"(5,"pid":1,"tid":7,"args":null})") ==
          begin + R"(0,"pid":0,"tid":7,"args":{}})");
    CHECK(text_of_mended(begin + R"(5,"pid":1,"tid":7})").find(R"("args": {}, )") !=
          std::string::npos);
  }
  const MergedCase merged(R"([{"ph":"M","name":"num_cpus","pid":1,"tid":7},)"
                          R"({"ph":"M","name":"TracingStartedInBrowser","pid":1,"tid":7},)"
                          R"({"ph":"i","name":"a","ts":0,"pid":1,"tid":7}])");
  CHECK(merged.metadata() ==
        Texts{R"({"args": {}, "ph":"M","name":"num_cpus","pid":0,"tid":7})",
              R"({"ph":"M","name":"TracingStartedInBrowser","pid":0,"tid":7})"});
}
