#include "merge/frame/top_level_values.h"

#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Returns a trace of one event, with `values` next to its event list.
std::string trace(const std::string& values) {
  return R"({"traceEvents":[{"ph":"i","name":"a","ts":5,"pid":1,"tid":7}],)" + values + "}";
}

MergedCase merge_values(const std::string& first, const std::string& second) {
  return MergedCase(NamedTexts{{"rank0.json", trace(first)}, {"rank1.json", trace(second)}});
}

}  // namespace

TEST_CASE("top_level_values: settings of the run stay where all files have the same") {
  const MergedCase merged = merge_values(
      R"("schemaVersion":1,"with_stack":1,"cuda_runtime_version":12000,"traceName":"a")",
      R"("schemaVersion":1,"cuda_runtime_version":12010,"traceName":"b")");
  CHECK(merged.value("schemaVersion") == "1");
  CHECK(merged.value("with_stack").empty());
  CHECK(merged.value("traceName").empty());
  CHECK(merged.rank_values() ==
        R"({"0":{"cuda_runtime_version":12000,"traceName":"a","with_stack":1},)"
        R"("1":{"cuda_runtime_version":12010,"traceName":"b"}})");
  CHECK(merged.problems().empty());
}

TEST_CASE("top_level_values: who is who, and what is not known, belongs to the rank") {
  const std::string values = R"("distributedInfo":{"rank":3},"otherData":{"k":1},"new":[1])";
  const MergedCase merged(NamedTexts{{"x.json", trace(values)}});
  CHECK(merged.value("distributedInfo").empty());
  CHECK(merged.value("new").empty());
  CHECK(merged.rank_values() ==
        R"({"3":{"distributedInfo":{"rank":3},"new":[1],"otherData":{"k":1}}})");
}

TEST_CASE("top_level_values: a key that stands twice counts as its last value, and loses none") {
  const MergedCase merged(NamedTexts{
      {"rank0.json", trace(R"("INFO":["a"],"stackFrames":{"1":{"name":"x"}},"INFO":["b"],)"
                           R"("stackFrames":{"1":{"name":"y"}})")}});
  CHECK(merged.value("INFO") == R"(["b"])");
  CHECK(merged.value("stackFrames") == R"({"f0_1":{"name":"y"}})");
  CHECK(merged.rank_values() == R"({"0":{"INFO":["a"],"stackFrames":{"1":{"name":"x"}}}})");
}

TEST_CASE("top_level_values: of Chromium's metadata the clock stays, the rest is the rank's") {
  const MergedCase same =
      merge_values(R"("metadata":{"clock-domain":"L","highres-ticks":true,"os":"a"})",
                   R"("metadata":{"clock-domain":"L","highres-ticks":false,"os":"b"})");
  CHECK(same.value("metadata") == R"({"clock-domain":"L"})");
  CHECK(same.rank_values() ==
        R"({"0":{"metadata":{"clock-domain":"L","highres-ticks":true,"os":"a"}},)"
        R"("1":{"metadata":{"clock-domain":"L","highres-ticks":false,"os":"b"}}})");
  CHECK(merge_values(R"("metadata":{"clock-domain":"L"})", R"("x":1)").value("metadata").empty());
  const MergedCase again(NamedTexts{{"merged.json", same.text()}});
  CHECK(again.value("metadata") == same.value("metadata"));
  CHECK(again.rank_values() == same.rank_values());
}

TEST_CASE("top_level_values: VizTracer's dictionaries become one, of the time of the merge") {
  const MergedCase merged = merge_values(
      R"("viztracer_metadata":{"version":"1.1","baseTimeNanoseconds":7000},)"
      R"("file_info":{"files":{"a.py":["x",1]},"functions":{}})",
      R"("viztracer_metadata":{"version":"1.1","baseTimeNanoseconds":9000,"overflow":false},)"
      R"("file_info":{"files":{"b.py":["y",2]},"functions":{"f":["b.py",1]}})");
  CHECK(merged.value("baseTimeNanoseconds") == "12000");
  CHECK(merged.value("viztracer_metadata") ==
        R"({"baseTimeNanoseconds":12000,"overflow":false,"version":"1.1"})");
  CHECK(merged.value("file_info") ==
        R"({"files":{"a.py":["x",1],"b.py":["y",2]},"functions":{"f":["b.py",1]}})");
  CHECK(merged.rank_values() == "{}");
  const MergedCase unlike = merge_values(R"("file_info":{"files":{"a.py":["x",1]}})",
                                         R"("file_info":{"files":{"a.py":["y",1],"b.py":[]}})");
  CHECK(unlike.value("file_info") == R"({"files":{"a.py":["x",1]}})");
  CHECK(unlike.rank_values() == R"({"1":{"file_info":{"files":{"a.py":["y",1],"b.py":[]}}}})");
}

TEST_CASE("top_level_values: samples move with the events, and may be the first") {
  const std::string values =
      R"("samples":[{"ts":3.5,"tid":7,"sf":1},{"ts":"9","tid":8,"name":"s"},{"tid":7},5],)"
      R"("stackFrames":{"1":{"name":"m"}})";
  const MergedCase merged(NamedTexts{{"rank3.json", trace(values)}});
  CHECK(merged.value("baseTimeNanoseconds") == "3000");
  CHECK(merged.value("displayTimeUnit") == R"("ns")");
  CHECK(merged.value("samples") == R"([{"pid":3,"sf":"f0_1","tid":7,"ts":0.5},)"
                                   R"({"name":"s","pid":3,"tid":8,"ts":6}])");
  CHECK(merged.problems() == Texts{"bad_timestamp 2 at 72"});
}

TEST_CASE("top_level_values: a sample is of the busiest thread of its tid") {
  const MergedCase merged(NamedTexts{
      {"rank0.json",
       R"({"traceEvents":[{"ph":"i","name":"a","ts":0,"pid":9,"tid":0},)"
       R"({"ph":"i","name":"a","ts":0,"pid":1,"tid":0},{"ph":"i","name":"a","ts":0,"pid":1,"tid":0}],)"
       R"("samples":[{"ts":0,"tid":"0"},{"ts":0,"tid":0,"pid":9}]})"}});
  const oracle::Json first = oracle::parse_json(merged.events()[0]);
  const oracle::Json second = oracle::parse_json(merged.events()[1]);
  CHECK(text_of(first, "tid") != text_of(second, "tid"));
  CHECK(merged.value("samples") ==
        fmt::format(R"([{{"pid":0,"tid":{},"ts":0}},{{"pid":0,"tid":{},"ts":0}}])",
                    text_of(second, "tid"), text_of(first, "tid")));
}

TEST_CASE("top_level_values: what is not of the usual form is kept with the rank") {
  const std::string values =
      R"("samples":{"a":1},"stackFrames":["f"],"file_info":5,"metadata":"m","viztracer_metadata":[])";
  const MergedCase merged(NamedTexts{{"rank0.json", trace(values)}});
  CHECK(merged.rank_values() == R"({"0":{"file_info":5,"metadata":"m","samples":{"a":1},)"
                                R"("stackFrames":["f"],"viztracer_metadata":[]}})");
  for (const char* const key : {"samples", "stackFrames", "file_info", "metadata"})
    CHECK(merged.value(key).empty());
}

TEST_CASE("top_level_values: what is no strict JSON is mended, or kept as text") {
  const MergedCase merged(NamedTexts{
      {"rank0.json",
       trace("\"stackFrames\":{\"1\":{\"name\":\"a\tb\xff\"},},\"new\":{\"v\":NaN},\"odd\":{1}")}});
  CHECK(merged.value("stackFrames") == "{\"f0_1\":{\"name\":\"a\\u0009b\xef\xbf\xbd\"}}");
  CHECK(merged.rank_values() == R"({"0":{"new":{"v":"NaN"},"odd":"{1}"}})");
  CHECK(merged.problems() == Texts{"trailing_comma 1 at 76", "invalid_utf8 1 at 76",
                                   "control_character 1 at 76", "not_json_value 2 at 105"});
}

TEST_CASE("top_level_values: a large value goes through in pieces") {
  std::string frames = R"("stackFrames":{"0":{"name":"root"})";
  for (int i = 1; i < 20'000; ++i)
    frames += fmt::format(R"(,"{}":{{"name":"frame {}","parent":{}}})", i, i, i - 1);
  const std::string info = R"("INFO":[")" + std::string(600'000, 'x') + "\"]";
  const MergedCase merged(NamedTexts{{"rank0.json", trace(frames + "}," + info)}});
  const oracle::Json document = merged.document();
  CHECK(document.find("stackFrames")->keys.size() == 20'000);
  CHECK(text_of(*document.find("stackFrames")->find("f0_19999"), "parent") == "f0_19998");
  CHECK(document.find("INFO")->items[0].text.size() == 600'000);
}
