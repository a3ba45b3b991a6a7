#include "merge/edits/field_edits.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

Texts names(const MergedCase& merged) {
  Texts found;
  for (const std::string& line : merged.events()) {
    const oracle::Json event = oracle::parse_json(line);
    if (text_of(event, "ph") == "C")
      found.push_back(text_of(event, "pid") + " " + text_of(event, "name"));
  }
  return found;
}

Texts counter_args(const MergedCase& merged) {
  Texts found;
  for (const std::string& line : merged.events())
    found.push_back(canonical_text(*oracle::parse_json(line).find("args")));
  return found;
}

constexpr std::string_view kCpu =
    R"({"ph":"M","name":"process_labels","pid":50,"args":{"labels":"CPU"}},
       {"ph":"X","name":"a","ts":0,"dur":1,"pid":50,"tid":50})";

}  // namespace

TEST_CASE("counters: one name in several processes of a rank is told apart by the process") {
  const std::string text = "[" + std::string(kCpu) +
                           R"(,{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}},
          {"ph":"C","ts":1,"pid":50,"name":"mem","args":{"v":1}},
          {"ph":"C","ts":1,"pid":0,"name":"mem","args":{"v":2}},
          {"ph":"C","ts":1,"pid":1,"name":"mem","args":{"v":3}},
          {"ph":"C","ts":1,"pid":0,"name":"mem","id":"a","args":{"v":4}},
          {"ph":"C","ts":1,"pid":0,"name":"alone \"x\"","args":{"v":5}}])";
  const MergedCase merged(NamedTexts{{"rank0.json", text}, {"rank1.json", text}});
  CHECK(names(merged) == Texts{"0 mem", "0 mem [GPU 0]", "0 mem [pid 1]", "0 mem", "0 alone \"x\"",
                               "1 mem", "1 mem [GPU 0]", "1 mem [pid 1]", "1 mem",
                               "1 alone \"x\""});
  CHECK(names(MergedCase(NamedTexts{{"merged.json", merged.text()}})) == names(merged));
}

TEST_CASE("counters: the main processes of several files of a rank are one") {
  const std::string composer =
      R"([{"ph":"M","name":"global_rank","pid":0,"tid":1,"args":{"value":0}},
          {"ph":"X","name":"a","ts":0,"dur":1,"pid":0,"tid":1},
          {"ph":"C","ts":1,"pid":0,"name":"mem","args":{"v":1}}])";
  const std::string torch =
      "[" + std::string(kCpu) + R"(,{"ph":"C","ts":1,"pid":50,"name":"mem","args":{"v":1}}])";
  CHECK(names(MergedCase(NamedTexts{{"a-rank0.json", composer}, {"b-rank0.json", torch}})) ==
        Texts{"0 mem", "0 mem"});
}

TEST_CASE("counters: one counter has one name in all files of a rank") {
  const auto cycle = [](const std::string& names, int start) {
    return fmt::format(R"([{}{{"ph":"X","name":"a","pid":100,"tid":1,"ts":{},"dur":10}},
{{"ph":"C","name":"mem","pid":100,"ts":{},"args":{{"v":1}}}},
{{"ph":"C","name":"mem","pid":200,"ts":{},"args":{{"v":2}}}}])",
                       names, start, start, start);
  };
  const std::string worker =
      R"({"ph":"M","name":"process_name","pid":200,"args":{"name":"worker"}},)";
  CHECK(names(MergedCase(
            NamedTexts{{"a-rank0.json", cycle(worker, 0)}, {"b-rank0.json", cycle("", 1000)}})) ==
        Texts{"0 mem", "0 mem [worker 200]", "0 mem", "0 mem [worker 200]"});
}

TEST_CASE("counters: samples stand by their time, whatever threads took them") {
  const MergedCase merged(
      R"([{"ph":"C","ts":5,"pid":1,"tid":2,"name":"c","id":"1","args":{"v":2}},
          {"ph":"C","ts":3,"pid":1,"tid":3,"name":"c","id":1,"args":{"v":1}},
          {"ph":"C","ts":4,"pid":1,"tid":3,"name":"d","args":{"v":4}},
          {"ph":"C","ts":3,"pid":1,"tid":2,"name":"d","args":{"v":3}}])");
  CHECK(counter_args(merged) == Texts{R"({"v":1})", R"({"v":2})", R"({"v":3})", R"({"v":4})"});
}

TEST_CASE("counters: the cycles of a rank stand by their time, in whatever order they come") {
  const auto cycle = [](int start) {
    return fmt::format(R"([{{"ph":"C","ts":{},"pid":1,"tid":2,"name":"c","args":{{"v":{}}}}}])",
                       start, start);
  };
  // A shell names 10 before 2.
  const NamedTexts files{{"ep0-ba10-rank0.json", cycle(3)},
                         {"ep0-ba1-rank1.json", cycle(2)},
                         {"ep0-ba2-rank0.json", cycle(1)}};
  CHECK(counter_args(MergedCase(files)) == Texts{R"({"v":1})", R"({"v":2})", R"({"v":3})"});
}

TEST_CASE("counters: ids are text, as Perfetto wants them") {
  const MergedCase merged(
      R"([{"ph":"C","ts":0,"pid":1,"name":"c","id":1,"args":{"v":1}},
          {"ph":"C","ts":0,"pid":1,"name":"c","id":2.0,"args":{"v":1}},
          {"ph":"C","ts":0,"pid":1,"name":"c","id":"x","args":{"v":1}},
          {"ph":"C","ts":0,"pid":1,"name":"c","id":null,"args":{"v":1}}])");
  Texts ids;
  for (const std::string& line : merged.events())
    ids.push_back(canonical_text(*oracle::parse_json(line).find("id")));
  CHECK(ids == Texts{R"("1")", R"("2")", R"("x")", "null"});
  CHECK(merged.problems().empty());
}

TEST_CASE("counters: a sample without a number is dropped, and is not the first event") {
  const MergedCase merged(
      R"([{"ph":"C","ts":1,"pid":1,"name":"c","args":{}},
          {"ph":"C","ts":1,"pid":1,"name":"c"},
          {"ph":"C","ts":1,"pid":1,"name":"c","args":null},
          {"ph":"C","ts":1,"pid":1,"name":"c","args":"__stripped__"},
          {"ph":"C","ts":1,"pid":1,"name":"c","args":{"v":"NaN","w":{"x":1},"y":true}},
          {"ph":"C","ts":5,"pid":1,"name":"c","args":{"v":"7.5","w":"low","x":3,"y":null}}])");
  CHECK(merged.events() ==
        Texts{R"({"ph":"C","ts":0,"pid":0,"name":"c","args":{"v":"7.5","x":3}})"});
  CHECK(merged.problems() == Texts{"bad_counter 6 at 1"});
  CHECK(merged.value("baseTimeNanoseconds") == "5000");
  CHECK(merged.summary().files[0].events_in == 1);
}
