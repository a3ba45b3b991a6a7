#include "run/launches.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

using namespace traceloom;

namespace {

std::string id(std::string_view key, int number) {
  return "{\"" + std::string(key) + "\": " + std::to_string(number) + "}";
}

// The begin of the launch in us of each piece of device work, by its name; -1 without a launch.
std::map<std::string, std::int64_t> launches_of(const Run& run) {
  std::map<std::string, std::int64_t> found;
  for (const RankEvents& rank : run.ranks) {
    const Launches launches(rank.parts);
    for (const EventColumns& part : rank.parts) {
      CHECK(part.arrows.empty());
      for (const DeviceSpan& span : part.devices) {
        const CallSpan* const call = launches.find(part, span);
        found[std::string(run.labels.name(span.label))] =
            call == nullptr ? -1 : call->start_ns / 1000;
      }
    }
  }
  return found;
}

std::map<std::string, std::int64_t> launches_in(const TraceText& trace) {
  return launches_of(read_texts({{"rank0.json", trace.array()}}));
}

using Begins = std::map<std::string, std::int64_t>;

}  // namespace

TEST_CASE("launch ids: without correlations calls and work are linked by their External id") {
  TraceText trace;
  trace.cat("cpu_op").x("aten::mm", 0, 9, id("External id", 1000));
  trace.cat("cuda_runtime").x("hipLaunchKernel", 2, 3, id("External id", 7));
  trace.x("hipLaunchKernel", 6, 2, id("External id", 8));
  trace.pid("2").cat("kernel").x("a", 10, 5, id("External id", 7));
  trace.x("b", 20, 5, id("External id", 8)).x("c", 30, 5, id("External id", 1000));
  CHECK(launches_in(trace) == Begins{{"a", 2}, {"b", 6}, {"c", -1}});
}

TEST_CASE("launch ids: of calls that have a correlation the External id is that of an operator") {
  TraceText trace;
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 3, R"({"External id": 7, "correlation": 1})");
  trace.x("cudaLaunchKernel", 5, 3, R"({"External id": 7, "correlation": 2})");
  trace.x("other", 8, 1, id("External id", 9));
  trace.pid("2").cat("kernel").x("a", 10, 5, R"({"External id": 7, "correlation": 1})");
  trace.x("b", 20, 5, id("External id", 7)).x("c", 30, 5, id("External id", 9));
  CHECK(launches_in(trace) == Begins{{"a", 0}, {"b", -1}, {"c", 8}});
}

TEST_CASE("launch ids: an External id that is a correlation of the file stays another id") {
  TraceText trace;
  trace.cat("cuda_runtime").x("first", 0, 3, id("correlation", 7));
  trace.x("second", 5, 3, id("External id", 7));
  trace.pid("2").cat("kernel").x("a", 10, 5, id("correlation", 7));
  trace.x("b", 20, 5, id("External id", 7));
  CHECK(launches_in(trace) == Begins{{"a", 0}, {"b", 5}});
}

TEST_CASE("launch ids: without ids the arrow links them, wherever it stands") {
  TraceText calls;
  calls.cat("cpu_op").x("aten::mm", 0, 9);
  calls.cat("cuda_runtime").x("hipLaunchKernel", 2, 3).x("hipLaunchKernel", 6, 2);
  TraceText trace = calls;
  trace.cat("ac2g").with_id("s", "ac2g", 2, "41").with_id("s", "ac2g", 6, "42");
  trace.pid("2").with_id("f", "ac2g", 10, "41");
  trace.cat("kernel").x("a", 10, 5).x("b", 20, 5).x("c", 30, 5);
  trace.cat("ac2g").with_id("f", "ac2g", 20, "42").with_id("f", "ac2g", 30, "43");
  CHECK(launches_in(trace) == Begins{{"a", 2}, {"b", 6}, {"c", -1}});
  TraceText others = calls;
  others.cat("fwdbwd").with_id("s", "fwdbwd", 2, "41");
  others.pid("2").cat("kernel").x("a", 10, 5).cat("fwdbwd").with_id("f", "fwdbwd", 10, "41");
  CHECK(launches_in(others) == Begins{{"a", -1}});
}

TEST_CASE("launch ids: each file has its own, and ids that are none link nothing") {
  const auto file = [](int at, int launch) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#" + std::to_string(at), at, 100);
    trace.cat("cuda_runtime").x("hipLaunchKernel", at + launch, 1, id("External id", 7));
    trace.pid("2").cat("kernel").x("at " + std::to_string(at), at + 50, 5, id("External id", 7));
    return trace.array();
  };
  CHECK(launches_of(read_texts({{"rank0-a.json", file(0, 3)}, {"rank0-b.json", file(1000, 8)}})) ==
        Begins{{"at 0", 3}, {"at 1000", 1008}});
  TraceText large;
  large.cat("cuda_runtime").x("a", 0, 1, R"({"External id": 9223372036854775807})");
  large.x("b", 1, 1, R"({"correlation": 9223372036854775807})").x("c", 1, 1, id("External id", -5));
  large.cat("kernel").x("k", 2, 1, R"({"External id": 9223372036854775807})");
  large.x("l", 3, 1, id("External id", -5));
  CHECK(launches_in(large) == Begins{{"k", -1}, {"l", -1}});
}
