// Rows of devices without categories: testdata/devices, with results worked out by hand.
#include "run/launches.h"
#include "run/run.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

Run read_device(const std::string& name) {
  return read_paths({std::string(TRACELOOM_SOURCE_DIR) + "/testdata/devices/" + name});
}

// Number of pieces of a role, and their total length in us.
using Work = std::pair<int, std::int64_t>;
Work work_of(const Run& run, Role role, std::int32_t device = 0) {
  Work work{0, 0};
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != role || span.device != device) return;
    ++work.first;
    work.second += (span.end_ns - span.start_ns) / 1000;
  });
  return work;
}

std::map<std::string, std::int64_t> host_us(const Run& run) {
  std::map<std::string, std::int64_t> found;
  run.ranks.at(0).for_each_host([&](const HostSpan& span) {
    found[std::string(run.labels.name(span.label))] += (span.end_ns - span.start_ns) / 1000;
  });
  return found;
}

std::size_t calls_in(const Run& run) {
  std::size_t calls = 0;
  run.ranks.at(0).for_each_call([&](const CallSpan&) { ++calls; });
  return calls;
}

}  // namespace

TEST_CASE("device rows: of JAX on a GPU the streams count, and its ops and modules do not again") {
  const Run run = read_device("jax_gpu.json");
  CHECK(work_of(run, Role::kernel) == Work{2, 220});
  CHECK(work_of(run, Role::communication) == Work{1, 50});
  CHECK(work_of(run, Role::memcpy) == Work{1, 30});
  std::map<std::int32_t, int> streams;
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) { ++streams[span.stream]; });
  CHECK(streams == std::map<std::int32_t, int>{{13, 3}, {14, 1}});
}

TEST_CASE("device rows: of JAX's host calls of the driver launch, and frames of Python are none") {
  const Run run = read_device("jax_gpu.json");
  CHECK(calls_in(run) == 4);
  CHECK(host_us(run) == std::map<std::string, std::int64_t>{{"PjitFunction(f)", 160}});
  const RankEvents& rank = run.ranks.at(0);
  const Launches launches(rank.parts);
  std::map<std::string, std::int64_t> delays;
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices) {
      const CallSpan* const call = launches.find(part, span);
      REQUIRE(call != nullptr);
      delays[std::string(run.labels.name(span.label))] = (span.start_ns - call->start_ns) / 1000;
    }
  CHECK(delays ==
        std::map<std::string, std::int64_t>{{"loop_add_fusion", 50},
                                            {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 130},
                                            {"MemcpyD2H", 20}});
}

TEST_CASE("device rows: a step of XLA lasts until the next one on the device's row of steps") {
  const Run run = read_device("jax_gpu.json");
  const StepList& steps = run.ranks.at(0).steps;
  CHECK(steps.kind == StepKind::xla);
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).number == 1);
  CHECK(steps.list.at(0).time == Interval{100'000, 600'000});
  CHECK(steps.list.at(0).device_ops == 3);
  CHECK(steps.list.at(1).time == Interval{600'000, 720'000});
  // It lasts longer than its row, to an end that is not known.
  CHECK(steps.list.at(0).counted);
  CHECK_FALSE(steps.list.at(1).counted);
  CHECK(steps.open_end);
}

TEST_CASE("device rows: without a device's row of steps JAX's are those that the host numbers") {
  TraceText trace;
  trace.m("process_name", R"({"name": "/host:CPU"})");
  trace.x("train", 0, 100, R"({"step_num": "4"})").x("train", 100, 90, R"({"step_num": "5"})");
  const StepList steps = read_texts({{"rank0.json", trace.array()}}).ranks.at(0).steps;
  CHECK(steps.kind == StepKind::torch);
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(1).number == 5);
  CHECK(steps.list.at(1).time == Interval{100'000, 190'000});
}

TEST_CASE("device rows: of nested ops of a TPU each instant is the innermost one's") {
  const Run run = read_device("jax_tpu.json");
  std::map<std::string, std::int64_t> names;
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    if (span.device == 0)
      names[std::string(run.labels.name(span.label))] += (span.end_ns - span.start_ns) / 1000;
  });
  // The two steps have the same ops; in the first one copy-start.5 is in flight for another 200 us.
  CHECK(names == std::map<std::string, std::int64_t>{{"while.1", 300},
                                                     {"fusion.2", 700},
                                                     {"all-reduce.3", 200},
                                                     {"copy-start.5", 220},
                                                     {"fusion.6", 500}});
  CHECK(work_of(run, Role::communication) == Work{2, 200});
  CHECK(work_of(run, Role::memcpy) == Work{3, 220});
}

TEST_CASE("device rows: where a TPU has no ops its modules are its work, as programs") {
  const Run run = read_device("jax_tpu.json");
  CHECK(work_of(run, Role::kernel, 1) == Work{1, 800});
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    CHECK(run.labels.kind(span.label).is_program == (span.device == 1));
  });
}

TEST_CASE("device rows: steps of several devices of one number are one") {
  const StepList steps = read_device("jax_tpu.json").ranks.at(0).steps;
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).number == 7);
  CHECK(steps.list.at(0).time == Interval{0, 1'000'000});
  CHECK(steps.list.at(1).time == Interval{1'000'000, 1'950'000});
}

TEST_CASE("device rows: Ascend's tasks are work, its waits and its own analysis are none") {
  const Run run = read_device("ascend.json");
  CHECK(work_of(run, Role::kernel) == Work{2, 350});  // "Computing" says the same
  CHECK(work_of(run, Role::memcpy) == Work{1, 30});
  CHECK(work_of(run, Role::communication) == Work{1, 180});  // the group, not its planes again
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role == Role::communication)
      CHECK(run.labels.name(span.label) == "hcom_allReduce__123");
  });
  CHECK(host_us(run) == std::map<std::string, std::int64_t>{{"aten::add", 40}, {"aten::mm", 40}});
  CHECK(run.ranks.at(0).steps.list.at(0).number == 3);
}

TEST_CASE("device rows: Ascend's arrows tell when the host handed work to the device") {
  const Run run = read_device("ascend.json");
  CHECK(calls_in(run) == 4);  // two of CANN, and two arrows
  const RankEvents& rank = run.ranks.at(0);
  const Launches launches(rank.parts);
  std::vector<std::int64_t> delays;
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices)
      if (const CallSpan* const call = launches.find(part, span))
        delays.push_back((span.start_ns - call->end_ns) / 1000);
  CHECK(delays == std::vector<std::int64_t>{75, 85});
}

TEST_CASE("device rows: MTIA's programs are work, its waits and records none, its copies copies") {
  const Run run = read_device("mtia.json");
  CHECK(work_of(run, Role::kernel, 17) == Work{3, 450});
  CHECK(work_of(run, Role::memcpy, 17) == Work{1, 10});  // 17 of the name of its process
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    const EventClass& kind = run.labels.kind(span.label);
    CHECK(kind.is_program == (kind.role == Role::kernel));
  });
}

TEST_CASE("device rows: rows like a device's that nobody knows are no host, and are told") {
  for (const char* file : {"unknown_process.json", "unknown_category.json"}) {
    CAPTURE(file);
    const Run run = read_device(file);
    const RankEvents& rank = run.ranks.at(0);
    CHECK_FALSE(rank.has_devices());
    CHECK(host_us(run).count("matmul_tile") == 0);
    int rows = 0;
    rank.for_each_unknown([&](const UnknownSpans& spans) {
      ++rows;
      CHECK(spans.count == 2);
      CHECK(spans.total_ns == 700'000);
      CHECK(spans.is_whole_device);
    });
    CHECK(rows == 1);
  }
  CHECK(host_us(read_device("unknown_category.json")).at("custom host span") == 10);
}

TEST_CASE("device rows: unknown rows of a device that is understood are no whole device") {
  TraceText trace;
  trace.m("process_name", R"({"name": "/device:GPU:0"})");
  trace.tid("1").m("thread_name", R"({"name": "Stream #1"})").x("fusion", 0, 10);
  trace.tid("2").m("thread_name", R"({"name": "Novel Things"})").x("what", 0, 10);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(work_of(run, Role::kernel) == Work{1, 10});
  run.ranks.at(0).for_each_unknown(
      [&](const UnknownSpans& spans) { CHECK_FALSE(spans.is_whole_device); });
}

TEST_CASE("device rows: what XLA has beside its devices is no device that is not understood") {
  TraceText trace;
  trace.pid("1").m("process_name", R"({"name": "/device:TPU:0"})");
  trace.m("thread_name", R"({"name": "XLA Ops"})").x("fusion", 0, 10);
  trace.pid("2").m("process_name", R"({"name": "/device:CUSTOM:Megascale Trace"})").x("x", 0, 10);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  run.ranks.at(0).for_each_unknown(
      [&](const UnknownSpans& spans) { CHECK_FALSE(spans.is_whole_device); });
}

TEST_CASE("device rows: what a producer makes of its device is none of it where nothing else is") {
  TraceText trace;
  trace.m("process_name", R"({"name": "Overlap Analysis"})");
  trace.m("thread_name", R"({"name": "Computing"})").x("Computing", 0, 10);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK_FALSE(run.ranks.at(0).has_devices());
  int rows = 0;
  run.ranks.at(0).for_each_unknown([&](const UnknownSpans&) { ++rows; });
  CHECK(rows == 1);
}

TEST_CASE("device rows: spans without a category on rows of the host stay on the host") {
  const TraceText trace = TraceText().x("work", 0, 10).x("enumerate(DataLoader)#X", 10, 5);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(host_us(run) ==
        std::map<std::string, std::int64_t>{{"work", 10}, {"enumerate(DataLoader)#X", 5}});
}
