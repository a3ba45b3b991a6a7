// These are the cases of the reference on the format, by their numbers there: threads, ids, and
// what stands next to the events.
#include "base/json_string.h"
#include "base/problems.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace traceloom;

namespace {

// Returns the values of a member of all events, in their order.
Texts values(const MergedCase& merged, std::string_view key) {
  Texts found;
  for (const std::string& line : merged.events()) {
    const oracle::Json event = oracle::parse_json(line);
    const oracle::Json* const value = event.find(key);
    found.push_back(value == nullptr ? "" : canonical_text(*value));
  }
  return found;
}

MergedCase merge_alike(const std::string& text) {
  return MergedCase(NamedTexts{{"rank0.json", text}, {"rank1.json", text}});
}

PlanOptions keep_origin() {
  PlanOptions options;
  options.origin = OriginKind::keep;
  return options;
}

}  // namespace

TEST_CASE("format case 26: no thread is tid 0, and none but the main one is the rank") {
  // All kernels of ROCm are on tid 0; rank 2 has a thread 2 that is not the main one.
  const MergedCase merged(
      NamedTexts{{"rank2.json",
                  R"([{"ph":"M","name":"process_labels","pid":50,"args":{"labels":"CPU"}},
           {"ph":"X","ts":0,"dur":1,"pid":50,"tid":50,"cat":"cpu_op","name":"a"},
           {"ph":"X","ts":0,"dur":1,"pid":50,"tid":2,"cat":"cpu_op","name":"b"},
           {"ph":"X","ts":0,"dur":1,"pid":2,"tid":0,"cat":"kernel","name":"k"}])"}});
  CHECK(values(merged, "pid") == Texts{"2", "2", "2"});
  CHECK(values(merged, "tid") == Texts{"50", "10000000", "10000001"});
  CHECK(merged.problems().empty());
}

TEST_CASE("format case 27: threads of 64 bits that are close to each other stay two") {
  const MergedCase merged(
      R"([{"ph":"i","name":"a","ts":0,"pid":1,"tid":139987654321984},
          {"ph":"i","name":"a","ts":0,"pid":1,"tid":139987654322000}])");
  CHECK(values(merged, "tid") == Texts{"10000000", "10000001"});
}

TEST_CASE("format case 28: pids and tids in quotes are those without") {
  const MergedCase merged(
      R"([{"ph":"i","name":"a","ts":0,"pid":1166,"tid":7},{"ph":"i","name":"a","ts":0,"pid":"1166","tid":"7"}])");
  CHECK(values(merged, "pid") == Texts{"0", "0"});
  CHECK(values(merged, "tid") == Texts{"7", "7"});
}

TEST_CASE("format case 31: flow ids of all spellings are numbers, and as many as before") {
  const MergedCase merged(
      R"([{"ph":"s","name":"a","cat":"c","id":"0x1f","ts":0,"pid":1,"tid":7},{"ph":"s","name":"a","cat":"c","id":31,"ts":0,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id":"31","ts":0,"pid":1,"tid":7},{"ph":"s","name":"a","cat":"c","id":"abc","ts":0,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id":9007199254740993,"ts":0,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id":-5,"ts":0,"pid":1,"tid":7},{"ph":"s","name":"a","cat":"c","id":1.5,"ts":0,"pid":1,"tid":7}])");
  const Texts ids = values(merged, "id");
  CHECK(ids == Texts{"37", "31", "36", "35", "34", "33", "32"});
  CHECK(merged.problems() == Texts{});
  // This flow has its id in id2, which catapult refuses.
  const MergedCase other(
      R"([{"ph":"s","name":"a","cat":"c","id2":{"local":"0x1"},"ts":0,"pid":1,"tid":7},
          {"ph":"f","name":"a","cat":"c","id2":{"local":"0x1"},"ts":1,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id2":{"local":"0x1"},"ts":0,"pid":2,"tid":7},
          {"ph":"s","name":"a","cat":"c","id2":{"global":"0x1"},"ts":0,"pid":2,"tid":7}])");
  CHECK(values(other, "id") == Texts{"3", "3", "2", "1"});
  CHECK(values(other, "id2") == Texts{"", "", "", ""});
}

TEST_CASE(
    "format case 32: one start and four ends, and ends without a start, are kept and counted") {
  const MergedCase merged(
      R"([{"ph":"X","name":"a","ts":0,"dur":9,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id":5,"ts":1,"pid":1,"tid":7},{"ph":"f","name":"a","cat":"c","id":5,"ts":2,"pid":1,"tid":7},
          {"ph":"f","name":"a","cat":"c","id":5,"ts":3,"pid":1,"tid":7},{"ph":"f","name":"a","cat":"c","id":5,"ts":4,"pid":1,"tid":7},
          {"ph":"f","name":"a","cat":"c","id":5,"ts":0,"pid":1,"tid":7},{"ph":"f","name":"a","cat":"c","id":6,"ts":2,"pid":1,"tid":7}])");
  CHECK(values(merged, "id") == Texts{"", "5", "5", "5", "5", "5", "6"});
  CHECK(values(merged, "ts") == Texts{"0", "1", "2", "3", "4", "0", "2"});
  CHECK(values(merged, "bp") == Texts{"", "", "", "", "", R"("e")", R"("e")"});
  CHECK(merged.problems() == Texts{"arrow_without_start 2 at 335"});
}

TEST_CASE("format case 33: async events of one id and category in two ranks are two") {
  const MergedCase merged =
      merge_alike(R"([{"ph":"b","name":"a","cat":"x","id":"0x1","ts":0,"pid":1,"tid":7},
                                           {"ph":"e","name":"a","cat":"x","id":"0x1","ts":9,"pid":1,"tid":7}])");
  CHECK(values(merged, "id2") == Texts{R"({"local":"0x9"})", R"({"local":"0x9"})",
                                       R"({"local":"0x13"})", R"({"local":"0x13"})"});
  CHECK(values(merged, "pid") == Texts{"0", "0", "1", "1"});
}

TEST_CASE("format case 33: an id is the global one of id2, and no local one") {
  const MergedCase merged(
      R"([{"ph":"b","name":"a","cat":"x","id":"a","ts":0,"pid":1,"tid":7},
          {"ph":"n","name":"a","cat":"x","id2":{"local":"a"},"ts":1,"pid":1,"tid":7},
          {"ph":"e","name":"a","cat":"x","id2":{"global":"a"},"ts":2,"pid":2,"tid":7}])");
  const Texts ids = values(merged, "id2");
  CHECK(ids[0] == ids[2]);
  CHECK(ids[0] != ids[1]);
}

TEST_CASE("format case 34: the id 0 of clang's events is another one in every file") {
  const MergedCase merged =
      merge_alike(R"([{"ph":"b","cat":"Source","id":0,"ts":0,"pid":1,"tid":1,"name":"Source"},
                      {"ph":"e","cat":"Source","id":0,"ts":5,"pid":1,"tid":1,"name":"Source"},
                      {"ph":"X","ts":0,"dur":9,"pid":1,"tid":2,"name":"Total Source"}])");
  CHECK(values(merged, "id2") == Texts{R"({"local":"0x9"})", R"({"local":"0x9"})", "",
                                       R"({"local":"0x13"})", R"({"local":"0x13"})", ""});
}

TEST_CASE("format case 40: stack frames of two files stay apart, and references follow") {
  const std::string text =
      R"({"traceEvents":[{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":7,"sf":1,"esf":"2"},
                         {"ph":"B","ts":0,"pid":1,"tid":7,"sf":"1","name":"a"},
                         {"ph":"E","ts":5,"pid":1,"tid":7,"sf":2,"name":"a"}],
          "stackFrames":{"1":{"name":"main","category":"c"},"2":{"name":"f","parent":1}},
          "samples":[{"cpu":0,"tid":7,"ts":3,"name":"s","sf":2,"weight":1}]})";
  const MergedCase merged = merge_alike(text);
  CHECK(values(merged, "sf") == Texts{R"("f0_1")", R"("f0_1")", R"("f1_1")", R"("f1_1")"});
  CHECK(values(merged, "esf") == Texts{R"("f0_2")", R"("f0_2")", R"("f1_2")", R"("f1_2")"});
  CHECK(merged.value("stackFrames") ==
        R"({"f0_1":{"category":"c","name":"main"},"f0_2":{"name":"f","parent":"f0_1"},)"
        R"("f1_1":{"category":"c","name":"main"},"f1_2":{"name":"f","parent":"f1_1"}})");
  CHECK(merged.value("samples") ==
        R"([{"cpu":0,"name":"s","pid":0,"sf":"f0_2","tid":20000000,"ts":3,"weight":1},)"
        R"({"cpu":0,"name":"s","pid":1,"sf":"f1_2","tid":20000001,"ts":3,"weight":1}])");
  CHECK(merged.rank_values() == "{}");
}

TEST_CASE("format case 42: of id and id2 the id counts, and an id2 must say something") {
  const MergedCase merged(
      R"([{"ph":"b","name":"a","id":5,"id2":{"local":"0x9"},"ts":0,"pid":1,"tid":7},
          {"ph":"s","name":"a","cat":"c","id":5,"id2":{"local":"0x9"},"ts":0,"pid":1,"tid":7},
          {"ph":"O","name":"a","id":5,"id2":{"local":"0x9"},"ts":0,"pid":1,"tid":7},
          {"ph":"X","name":"a","dur":1,"id":5,"id2":{"local":"0x9"},"ts":0,"pid":1,"tid":7},
          {"ph":"b","name":"a","id2":{},"ts":0,"pid":1,"tid":7},
          {"ph":"i","name":"a","id2":{},"ts":0,"pid":1,"tid":7},
          {"ph":"C","id2":{"local":"0x9"},"ts":0,"pid":1,"name":"c","args":{"v":1}},
          {"ph":"N","name":"a","id2":{"local":"0x9"},"ts":0,"pid":1,"tid":7}])");
  CHECK(
      merged.events() ==
      Texts{
          R"({"ph":"b","name":"a","source_id":5,"id2":{"local": "0x5"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"s","name":"a","cat":"c","id":5,"source_id2":{"local":"0x9"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"O","name":"a","id":"0x2","source_id2":{"local":"0x9"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"X","name":"a","dur":1,"id":5,"source_id2":{"local":"0x9"},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"b","name":"a","source_id2":{},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"i","name":"a","source_id2":{},"ts":0,"pid":0,"tid":7})",
          R"({"ph":"C","id":"0x9","ts":0,"pid":0,"name":"c","args":{"v":1}})",
          R"({"ph":"N","name":"a","id":"0x1","ts":0,"pid":0,"tid":7})",
          R"({"name": "a", "ph": "e", "id2": {"local": "0x5"}, "ts": 1, "pid": 0, "tid": 7, "added": true, "unclosed": true})"});
  CHECK(merged.problems() == Texts{"bad_field 6 at 1"});
}

TEST_CASE("format case 43: a time unit that viewers do not know is replaced") {
  const std::string event = R"({"traceEvents":[{"ph":"i","name":"a","ts":0.5,"pid":1,"tid":7}],)";
  const MergedCase merged(event + R"("displayTimeUnit":"us"})");
  CHECK(merged.value("displayTimeUnit") == R"("ns")");
  CHECK(merged.problems() == Texts{"bad_time_unit 1 at 82"});
  CHECK(MergedCase(event + R"("displayTimeUnit":"ms"})").problems().empty());
}

TEST_CASE("format case 44: an embedded trace stays only where no time is moved, and only as text") {
  const auto text = [](const std::string& subtrace) {
    return R"({"traceEvents":[{"ph":"i","name":"a","ts":5,"pid":1,"tid":7}],"systemTraceEvents":)" +
           subtrace + "}";
  };
  const auto merge_kept = [](const NamedTexts& files) { return MergedCase(files, keep_origin()); };
  const std::string ftrace = text(R"("# tracer: nop\n")");
  CHECK(merge_kept({{"rank0.json", ftrace}}).value("systemTraceEvents") ==
        R"("# tracer: nop\u000a")");
  const Texts dropped{"subtrace_dropped 1 at 82"};
  const MergedCase moved(ftrace);
  CHECK(moved.value("systemTraceEvents").empty());
  CHECK(moved.problems() == dropped);
  const MergedCase two = merge_kept({{"rank0.json", ftrace}, {"rank1.json", ftrace}});
  CHECK(two.value("systemTraceEvents").empty());
  CHECK(two.problems(1) == Texts{"subtrace_dropped 1 at 82", "no_clock 1 at 0"});
  const MergedCase fuchsia = merge_kept({{"rank0.json", text(R"({"type":"fuchsia"})")}});
  CHECK(fuchsia.value("systemTraceEvents").empty());
  CHECK(fuchsia.problems() == dropped);
  const MergedCase nothing(text("\"\""));
  CHECK(nothing.value("systemTraceEvents").empty());
  CHECK(nothing.problems().empty());
}

TEST_CASE("format case 45: a flood of equal metadata comes out once") {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += R"({"ph":"M","name":"process_name","pid":1,"tid":7,"args":{"name":"x"}},)"
            R"({"ph":"M","name":"num_cpus","pid":1,"tid":7,"args":{"number":8}},)";
  const MergedCase merged(text + R"({"ph":"i","name":"a","ts":0,"pid":1,"tid":7}])");
  CHECK(merged.metadata() ==
        Texts{R"({"ph":"M","name":"num_cpus","pid":0,"tid":7,"args":{"number":8}})"});
  std::size_t names = 0;
  for (std::size_t at = 0; (at = merged.text().find("process_name", at)) != std::string::npos; ++at)
    ++names;
  CHECK(names == 1);
}

TEST_CASE("format case 46: a name from before the first event is written without a time") {
  const MergedCase merged(
      R"([{"ph":"M","name":"thread_name","ts":1,"pid":1,"tid":7,"args":{"name":"main"}},
          {"ph":"i","name":"a","ts":500,"pid":1,"tid":7}])");
  CHECK(merged.events() == Texts{R"({"ph":"i","name":"a","ts":0,"pid":0,"tid":7})"});
  CHECK(merged.text().find(R"({"name":"thread_name","cat":"__metadata","ph":"M","pid":0,"tid":7,)"
                           R"("args":{"name":"main"}})") != std::string::npos);
}

TEST_CASE("format case 47: global instants of many ranks are instants of their processes") {
  NamedTexts files;
  for (int rank = 0; rank < 8; ++rank)
    files.emplace_back(
        "rank" + std::to_string(rank) + ".json",
        R"([{"ph":"i","s":"g","ts":0,"pid":"","tid":0,"name":"Record Window End"}])");
  const MergedCase merged(files);
  CHECK(values(merged, "s") == Texts(8, R"("p")"));
  CHECK(values(merged, "pid") == Texts{"0", "1", "2", "3", "4", "5", "6", "7"});
}

TEST_CASE("format case 54: what is deep, long or many is taken, with bounded memory") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const MergedCase nested(R"([{"ph":"i","name":"a","ts":0,"pid":1,"tid":7,"args":{"a":)" + deep +
                          "}}]");
  CHECK(nested.events() ==
        Texts{R"({"ph":"i","name":"a","ts":0,"pid":0,"tid":7,"args":{"unparsed":"{\"a\":)" + deep +
              R"(}"}})"});
  CHECK(nested.problems() == Texts{"bad_args 1 at 1"});
  const std::string name(5'000'000, 'n');
  CHECK(MergedCase(R"([{"ph":"i","ts":0,"pid":1,"tid":7,"name":")" + name + "\"}]").events() ==
        Texts{R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":")" + name + "\"}"});
  std::string keys;
  for (int key = 0; key < 3000; ++key) keys += fmt::format(R"(,"key {0}":{0})", key);
  CHECK(MergedCase(R"([{"ph":"i","name":"a","ts":0,"pid":1,"tid":7)" + keys + "}]").events() ==
        Texts{R"({"ph":"i","name":"a","ts":0,"pid":0,"tid":7)" + keys + "}"});
  std::string threads = "[";
  for (int tid = 1; tid <= 20'000; ++tid)
    threads += fmt::format(R"({{"ph":"i","name":"a","ts":0,"pid":1,"tid":{}}},)", tid);
  threads.back() = ']';
  const MergedCase many(threads);
  CHECK(many.events().size() == 20'000);
  CHECK(many.summary().processes[0].tracks.size() == 20'000);
}

TEST_CASE("format case 55: a file of metadata alone gives names and has no say in the origin") {
  const MergedCase merged(NamedTexts{
      {"rank0.json", R"([{"ph":"M","ts":1,"name":"num_cpus","pid":1,"args":{"number":8}}])"},
      {"rank1.json", R"([{"ph":"i","name":"a","ts":500,"pid":1,"tid":7}])"}});
  CHECK(merged.events() == Texts{R"({"ph":"i","name":"a","ts":0,"pid":1,"tid":7})"});
  CHECK(merged.metadata() ==
        Texts{R"({"tid": 1, "ph":"M","ts":0,"name":"num_cpus","pid":0,"args":{"number":8}})"});
  CHECK(merged.summary().processes.size() == 2);
}

TEST_CASE("format case 56: args of any kind pass through") {
  for (const char* const args :
       {"", R"(,"args":null)", R"(,"args":"__stripped__")", R"(,"args":[1,2])", R"(,"args":{})"}) {
    CAPTURE(args);
    const MergedCase merged(std::string(R"([{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":7)") +
                            args + "}]");
    CHECK(
        merged.events() ==
        Texts{std::string(R"({"ph":"X","name":"a","ts":0,"dur":1,"pid":0,"tid":7)") + args + "}"});
    CHECK(merged.problems().empty());
  }
}

TEST_CASE("format case 57: the start of a profile moves with the events") {
  const MergedCase merged(
      R"([{"ph":"P","name":"Profile","id":"0x1","ts":1500,"pid":1,"tid":7,"args":{"data":{"startTime":1498}}},
          {"ph":"P","name":"ProfileChunk","id":"0x1","ts":1600,"pid":1,"tid":7,"args":{"data":{"endTime":1599,"timeDeltas":[5,6],"cpuProfile":{"startTime":1499.5}}}}])");
  CHECK(merged.value("baseTimeNanoseconds") == "1498000");
  CHECK(values(merged, "ts") == Texts{"2", "102"});
  CHECK(values(merged, "id") == Texts{R"("0x1")", R"("0x1")"});
  CHECK(values(merged, "args") ==
        Texts{R"({"data":{"startTime":0}})",
              R"({"data":{"cpuProfile":{"startTime":1.5},"endTime":101,"timeDeltas":[5,6]}})"});
}

TEST_CASE("format case 58: the output is one strict document from brace to brace") {
  const MergedCase merged(
      "\xef\xbb\xbf{\"otherData\":{\"k\":\"\\u00e9\"},\"traceEvents\":["
      "{\"ph\":\"i\",\"ts\":0,\"pid\":1,\"tid\":7}]}\n");
  CHECK(merged.text().starts_with("{\""));
  CHECK(merged.text().ends_with("}"));
  CHECK(is_strict_json(merged.text()));
}
