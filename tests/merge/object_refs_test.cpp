#include "merge/edits/field_edits.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Returns the args of an event after the objects 0x7f of process 1 and, in scope "s", 0x8f.
std::string args_behind_objects(const std::string& event) {
  const MergedCase merged(
      R"([{"ph":"N","name":"T","id":"0x7f","ts":0,"pid":1,"tid":7},
          {"ph":"N","name":"T","id":"0x8f","scope":"s","ts":0,"pid":1,"tid":7},)" +
      event + "]");
  const oracle::Json written = oracle::parse_json(merged.events().back());
  return canonical_text(*written.find("args"));
}

std::string args_of_slice(const std::string& args) {
  return args_behind_objects(R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":7,"args":)" +
                             args + "}");
}

}  // namespace

TEST_CASE("object_refs: references in snapshots and in args of slices follow the objects") {
  CHECK(args_of_slice(R"({"a":[{"id_ref":"0x7f"}],"b":1.50})") ==
        R"({"a":[{"id_ref":"0x2"}],"b":1.50})");
  CHECK(args_of_slice(R"({"a":{"id_ref":"0x8f","scope":"s"}})") ==
        R"({"a":{"id_ref":"0x1","scope":"s"}})");
  CHECK(args_of_slice(R"({"a":{"idRef":"0x7f","pidRef":1}})") ==
        R"({"a":{"idRef":"0x2","pidRef":0}})");
  CHECK(args_behind_objects(R"({"ph":"O","name":"T","id":"0x7f","ts":1,"pid":1,"tid":7,)"
                            R"("args":{"snapshot":{"next":{"id_ref":"0x7f"}}}})") ==
        R"({"snapshot":{"next":{"id_ref":"0x2"}}})");
}

TEST_CASE("object_refs: a begin and an end keep their references when they are joined") {
  const MergedCase merged(
      R"([{"ph":"N","name":"T","id":"0x7f","ts":0,"pid":1,"tid":7},
          {"ph":"B","name":"b","ts":1,"pid":1,"tid":7,"args":{"a":{"id_ref":"0x7f"}}},
          {"ph":"E","name":"b","ts":2,"pid":1,"tid":7,"args":{"z":{"id_ref":"0x7f"}}}])");
  CHECK(merged.events().back() == R"({"ph":"X","name":"b","ts":1, "dur": 1,"pid":0,"tid":7,)"
                                  R"("args":{"a": {"id_ref":"0x1"}, "z": {"id_ref":"0x1"}}})");
}

TEST_CASE("object_refs: a reference to nothing stays, unless it would find what it does not mean") {
  CHECK(args_of_slice(R"({"a":{"id_ref":"0x9999"}})") == R"({"a":{"id_ref":"0x9999"}})");
  CHECK(args_of_slice(R"({"a":{"id_ref":"frame"}})") == R"({"a":{"id_ref":"frame"}})");
  // 0x1 is an object of the output now, and was none of the input.
  CHECK(args_of_slice(R"({"a":{"id_ref":"0x1"}})") == R"({"a":{"source_id_ref":"0x1"}})");
  CHECK(args_of_slice(R"({"a":{"id_ref":"0x1","pid_ref":4}})") ==
        R"({"a":{"pid_ref":4,"source_id_ref":"0x1"}})");
}

TEST_CASE("object_refs: a reference leads to the process that it names") {
  const MergedCase merged(
      R"([{"ph":"N","name":"T","id":"0x7f","ts":0,"pid":1,"tid":7},
          {"ph":"N","name":"T","id":"0x7f","ts":0,"pid":2,"tid":8},
          {"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":7,"args":{"a":{"id_ref":"0x7f","pid_ref":2}}}])");
  CHECK(merged.events() ==
        Texts{R"({"ph":"N","name":"T","id":"0x2","ts":0,"pid":0,"tid":7})",
              R"({"ph":"N","name":"T","id":"0x1","ts":0,"pid":0,"tid":10000000})",
              R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":0,"tid":7,)"
              R"("args":{"a":{"id_ref":"0x1","pid_ref":0}}})"});
}

TEST_CASE("object_refs: processes that stay apart are named as they are called now") {
  PlanOptions plan;
  plan.pids = PidLayout::split;
  const MergedCase merged({{"rank0.json",
                            R"([{"ph":"N","name":"T","id":"0x7f","ts":0,"pid":1,"tid":7},
            {"ph":"N","name":"T","id":"0x7f","ts":0,"pid":2,"tid":8},
            {"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":7,"args":{"a":{"id_ref":"0x7f","pid_ref":2}}}])"}},
                          plan);
  CHECK(merged.events() == Texts{R"({"ph":"N","name":"T","id":"0x2","ts":0,"pid":1,"tid":7})",
                                 R"({"ph":"N","name":"T","id":"0x1","ts":0,"pid":2,"tid":8})",
                                 R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":7,)"
                                 R"("args":{"a":{"id_ref":"0x1","pid_ref":2}}})"});
}

TEST_CASE("object_refs: an object of the whole file is found from every process") {
  const MergedCase merged(R"([{"ph":"O","name":"T","id2":{"global":"0x7f"},"ts":0,"pid":1,"tid":7,)"
                          R"("args":{"snapshot":{}}},
          {"ph":"X","name":"a","ts":1,"dur":1,"pid":2,"tid":8,"args":{"a":{"id_ref":"0x7f"}}}])");
  CHECK(
      merged.events() ==
      Texts{
          R"({"ph":"O","name":"T","id":"0x1","ts":0,"pid":0,"tid":7,)"
          R"("args":{"snapshot":{}}})",
          R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":0,"tid":10000000,"args":{"a":{"id_ref":"0x1"}}})"});
}

TEST_CASE("object_refs: objects that only a snapshot names have ids, too") {
  const std::string text =
      R"([{"ph":"O","name":"T","id":"0x5","scope":"s","ts":0,"pid":1,"tid":7,"args":{"snapshot":)"
      R"({"id":"x/y","list":[{"id":"cc::L/0x6","n":1},{"id":"plain"},{"id":7}],)"
      R"("to":{"id_ref":"0x6","scope":"s"}}}}])";
  const MergedCase merged(NamedTexts{{"rank0.json", text}, {"rank1.json", text}});
  const auto args = [](const std::string& name, const std::string& ref) {
    return R"("args":{"snapshot":{"id":"x/y","list":[{"id":"cc::L/)" + name +
           R"(","n":1},{"id":"plain"},{"id":7}],"to":{"id_ref":")" + ref + R"(","scope":"s"}}}})";
  };
  CHECK(merged.events() ==
        Texts{R"({"ph":"O","name":"T","id":"0x9","scope":"s","ts":0,"pid":0,"tid":7,)" +
                  args("0x8", "0x8"),
              R"({"ph":"O","name":"T","id":"0x13","scope":"s","ts":0,"pid":1,"tid":7,)" +
                  args("0x12", "0x12")});
}

TEST_CASE("object_refs: contexts and objects share their ids, profiles and dumps have their own") {
  const MergedCase merged(
      R"j([{"ph":"N","name":"T","id":"0x7","ts":0,"pid":1,"tid":7},
          {"ph":"(","name":"T","id":"0x7","ts":0,"pid":1,"tid":7},
          {"ph":")","name":"T","id":"0x7","ts":1,"pid":1,"tid":7},
          {"ph":"P","name":"Profile","id":"0x7","ts":1,"pid":1,"tid":7},
          {"ph":"P","name":"Profile","id":"0x7","ts":1,"pid":2,"tid":8},
          {"ph":"v","name":"a","id":"0x7","ts":1,"pid":1,"tid":7},{"ph":"v","name":"a","id":"0x7","ts":1,"pid":2,"tid":8},
          {"ph":"D","name":"T","id":"0x7","ts":2,"pid":1,"tid":7}])j");
  Texts ids;
  for (const std::string& line : merged.events())
    ids.push_back(text_of(oracle::parse_json(line), "id"));
  CHECK(ids == Texts{"0x5", "0x5", "0x5", "0x4", "0x3", "0x2", "0x1", "0x5"});
}

TEST_CASE("object_refs: merged files that are merged together keep their objects apart") {
  const std::string text = R"([{"ph":"O","name":"T","id":"0x5","ts":0,"pid":1,"tid":7,"sf":3,)"
                           R"("args":{"snapshot":{"to":{"id_ref":"0x5"}}}}])";
  const MergedCase node(NamedTexts{{"rank0.json", text}, {"rank1.json", text}});
  const MergedCase other(NamedTexts{{"rank2.json", text}, {"rank3.json", text}});
  const MergedCase all(NamedTexts{{"node0.json", node.text()}, {"node1.json", other.text()}});
  const auto event = [](const char* id, const char* frame, const char* rank) {
    return fmt::format(R"({{"ph":"O","name":"T","id":"{0}","ts":0,"pid":{2},"tid":7,"sf":"{1}",)"
                       R"("args":{{"snapshot":{{"to":{{"id_ref":"{0}"}}}}}}}})",
                       id, frame, rank);
  };
  CHECK(all.events() == Texts{event("0x9", "f0_3", "0"), event("0x13", "f1_3", "1"),
                              event("0x6d", "f2_3", "2"), event("0x77", "f3_3", "3")});
}
