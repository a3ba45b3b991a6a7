#include "identity/evidence/event_marks.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace traceloom;

namespace {

RowNames names_of(std::string_view elements) {
  const std::string text(elements);
  RowNames names;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  while (const Event* event = scanner.next()) names.add(*event);
  REQUIRE(problems.empty());
  return names;
}

}  // namespace

TEST_CASE("row names: those of process and thread, of several the last") {
  const RowNames names =
      names_of(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"old"}},)"
               R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"\/device:GPU:0"}},)"
               R"({"ph":"M","name":"thread_name","pid":1,"tid":13,"args":{"name":"Stream #13"}})");
  CHECK(names.row("1", "13").process == "/device:GPU:0");
  CHECK(names.row("1", "13").thread == "Stream #13");
  CHECK(names.row("1", "14").process == "/device:GPU:0");
  CHECK(names.row("1", "14").thread.empty());
  CHECK(names.row("2", "13").process.empty());
}

TEST_CASE("row names: chunks may come with names of other chunks' rows") {
  RowNames names = names_of(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}})");
  names.append(names_of(R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"b"}})"));
  names.append(names_of(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"c"}})"));
  CHECK(names.row("1", "2").process == "c");
  CHECK(names.row("1", "2").thread == "b");
}

TEST_CASE("row names: a label of a device counts where the name tells nothing") {
  const RowNames names =
      names_of(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}},)"
               R"({"ph":"M","name":"process_labels","pid":1,"args":{"labels":"NPU 3"}},)"
               R"({"ph":"M","name":"process_name","pid":2,"args":{"name":"Ascend Hardware"}},)"
               R"({"ph":"M","name":"process_labels","pid":2,"args":{"labels":"NPU"}},)"
               R"({"ph":"M","name":"process_labels","pid":3,"args":{"labels":"CPU"}})");
  CHECK(names.row("1", "1").process == "NPU 3");
  CHECK(names.row("2", "1").process == "Ascend Hardware");
  CHECK(names.row("3", "1").process.empty());
  CHECK(names.row("\"TPU core\"", "1").process == "TPU core");
}

TEST_CASE("row names: args with broken bytes are read") {
  const RowNames names = names_of(
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"M\xfcn\x01\"}},"
      R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"x":[1,],"name":"a"}},)"
      R"({"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"x":NaN,"name":"C:\d"}})");
  CHECK(names.row("1", "2").process == "M\xEF\xBF\xBDn\x01");
  CHECK(names.row("1", "2").thread == "a");
  CHECK(names.row("1", "3").thread == "C:\\d");
}

TEST_CASE("row names: a merge puts rank and process before them") {
  const RowNames names = names_of(
      R"x({"ph":"M","name":"process_name","pid":0,"args":{"name":"rank 0 · python (pid 7)"}},)x"
      R"({"ph":"M","name":"process_name","pid":9,"args":{"name":"rank 12 · Ascend Hardware 8"}},)"
      R"({"ph":"M","name":"thread_name","pid":0,"tid":10000001,)"
      R"("args":{"name":"CANN 2 · Thread 7","process":"CANN 2","source_pid":2}})");
  CHECK(names.row("0", "1").process == "python (pid 7)");
  CHECK(names.row("9", "1").process == "Ascend Hardware 8");
  CHECK(names.row("0", "10000001").process == "CANN 2");
  CHECK(names.row("0", "10000001").thread == "Thread 7");
}
