// These tests merge memory dumps (v) of several processes: catapult takes one dump of a process for
// each id.
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

// Returns a trace with two dumps, each of two processes, and a global one.
std::string trace() {
  TraceText text;
  text.pid("10").m("process_labels", R"({"labels": "CPU"})").tid("10").x("x", 0, 9);
  for (const char* const id : {R"("0x1f")", R"("0x2f")"})
    for (const char* const pid : {"10", "20"})
      text.pid(pid).tid(pid).raw(fmt::format(
          R"({{"ph":"v","id":{},"ts":5,"pid":{},"tid":{},"name":"d","args":{{"dumps":{{}}}}}})", id,
          pid, pid));
  text.raw(R"({"ph":"V","id":"0x1f","ts":5,"pid":10,"tid":10,"name":"d","args":{"dumps":{}}})");
  return text.array();
}

// Returns "pid id" for each dump.
Texts dumps_in(const std::string& merged) {
  Texts found;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "ph") == "v" || text_of(event, "ph") == "V")
      found.push_back(text_of(event, "pid") + " " + text_of(event, "id"));
  return found;
}

std::string merged_dumps(const std::string& text, PidLayout pids = PidLayout::rank) {
  return merge_texts({{"rank3.json", text}}, 1, AlignBy::any, pids);
}

}  // namespace

TEST_CASE("memory_dumps: where processes become one, each keeps its dumps") {
  const std::string once = merged_dumps(trace());
  CHECK(dumps_in(once) == Texts{"3 0x4", "3 0x2", "3 0x3", "3 0x1", "3 0x4"});
  CHECK(without_other_data(merged_dumps(once)) == without_other_data(once));
}

TEST_CASE("memory_dumps: where processes stay apart, a dump stays one of them all") {
  const std::string once = merged_dumps(trace(), PidLayout::split);
  const Texts dumps = dumps_in(once);
  CHECK(dumps == Texts{"301 0x4", "302 0x4", "301 0x3", "302 0x3", "301 0x4"});
  CHECK(without_other_data(merged_dumps(once, PidLayout::split)) == without_other_data(once));
}

TEST_CASE("memory_dumps: a merge that kept processes apart may be folded") {
  const Texts dumps = dumps_in(merged_dumps(merged_dumps(trace(), PidLayout::split)));
  REQUIRE(dumps.size() == 5);
  CHECK(dumps[0] != dumps[1]);
  CHECK(dumps[2] != dumps[3]);
  CHECK(dumps[0] != dumps[2]);
  CHECK(dumps[0] == dumps[4]);
}

TEST_CASE("memory_dumps: one process of a rank has the ids of its file") {
  CHECK(dumps_in(merged_dumps(R"([{"ph":"v","id":"0x1f","ts":5,"pid":10,"tid":10,"name":"d"},
                            {"ph":"v","id":"0x1f","ts":6,"pid":10,"tid":11,"name":"d"}])")) ==
        Texts{"3 0x1", "3 0x1"});
}
