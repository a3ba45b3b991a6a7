// Rows and names of producers that write no categories, and what nobody knows.
#include "run/launches.h"
#include "run/run.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

using namespace traceloom;

namespace {

Run read_trace_text(const TraceText& trace) {
  return read_texts({{"rank0.json", trace.array()}});
}

// The times of each role in us: of the devices, and of the host.
using RoleUs = std::map<std::string, std::int64_t>;
RoleUs device_role_us(const Run& run) {
  RoleUs times;
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    times[std::string(role_name(run.labels.kind(span.label).role))] +=
        (span.end_ns - span.start_ns) / 1000;
  });
  return times;
}
RoleUs host_role_us(const Run& run) {
  RoleUs times;
  run.ranks.at(0).for_each_host([&](const HostSpan& span) {
    times[std::string(role_name(run.labels.kind(span.label).role))] +=
        (span.end_ns - span.start_ns) / 1000;
  });
  return times;
}

constexpr const char* kTemplate =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)";

}  // namespace

TEST_CASE("known rows: torch's old export has the device times of operators, by device") {
  TraceText trace;
  trace.pid("\"CPU functions\"").x("aten::conv2d", 0, 10);
  trace.cat("cpu_to_cuda").with_id("s", "aten::conv2d", 0, "0").cat("");
  trace.pid("\"CUDA functions\"")
      .tid("1")
      .x("aten::conv2d", 5, 1000)
      .x("aten::cudnn_conv", 10, 980);
  trace.tid("0").x("aten::relu", 5, 3);
  const Run run = read_trace_text(trace);
  CHECK(host_role_us(run) == RoleUs{{"cpu", 10}});
  // A span in another counts once, and the rest from a hundredth on: the 15 us, not the 5 before.
  CHECK(device_role_us(run) == RoleUs{{"kernel", 998}});
  std::map<std::int32_t, std::int64_t> devices;
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    devices[span.device] += (span.end_ns - span.start_ns) / 1000;
  });
  CHECK(devices == std::map<std::int32_t, std::int64_t>{{0, 3}, {1, 995}});
  std::size_t operators = 0;
  const Run with_shapes = read_texts({{"rank0.json", trace.array()}}, {.shapes = true});
  for (const EventColumns& part : with_shapes.ranks.at(0).own_parts())
    operators += part.operators.size();
  CHECK(operators == 1);
}

TEST_CASE("known rows: a row with copies, or of kernels alone, is one of a device") {
  TraceText trace;
  trace.pid("3").tid("7");
  trace.x("[MEMCPY] HtoD", 0, 50, R"({"correlationId": 1, "externalId": 9})");
  trace.x("my_kernel", 50, 5, R"({"correlationId": 2})").x("[MEMSET]", 60, 2);
  trace.tid("13").x(kTemplate, 70, 20).x("ncclDevKernel_AllReduce_Sum", 90, 4);
  trace.pid("9").tid("1").x("cudaMemcpyAsync", 1, 2, R"({"correlationId": 1})");
  trace.x("main loop", 0, 200).x("my_kernel", 0, 3);
  const Run run = read_trace_text(trace);
  CHECK(device_role_us(run) ==
        RoleUs{{"memcpy", 50}, {"memset", 2}, {"kernel", 25}, {"communication", 4}});
  CHECK(host_role_us(run) == RoleUs{{"cpu", 203}});
  std::map<std::tuple<std::int32_t, std::int32_t>, int> streams;
  const Launches launches(run.ranks.at(0).parts);
  int launched = 0;
  for (const EventColumns& part : run.ranks.at(0).parts)
    for (const DeviceSpan& span : part.devices) {
      ++streams[{span.device, span.stream}];
      launched += launches.find(part, span) == nullptr ? 0 : 1;
    }
  CHECK(streams ==
        std::map<std::tuple<std::int32_t, std::int32_t>, int>{{{3, 7}, 3}, {{3, 13}, 2}});
  CHECK(launched == 1);
}

TEST_CASE("known rows: a row with a function of the host among kernels is one of the host") {
  TraceText trace;
  trace.x(kTemplate, 0, 10).x("step", 10, 5).cat("python").x("epoch", 15, 1);
  CHECK(device_role_us(read_trace_text(trace)).empty());
  CHECK(device_role_us(read_trace_text(TraceText().cat("cpp").x("void App::run<int>(int)", 0, 10)))
            .empty());
}

TEST_CASE("known rows: nsys2json names devices and streams by pid and tid") {
  TraceText trace;
  trace.cat("cuda").pid("\"Device 2\"").tid("\"Stream 14\"").x("gemm", 0, 10);
  trace.cat("cuda_api").tid("\"CUDA API 1\"").x("cudaLaunchKernel", 0, 2);
  const Run run = read_trace_text(trace);
  CHECK(device_role_us(run) == RoleUs{{"kernel", 10}});
  run.ranks.at(0).for_each_device([&](const DeviceSpan& span) {
    CHECK(span.device == 2);
    CHECK(span.stream == 14);
  });
  int calls = 0;
  run.ranks.at(0).for_each_call([&](const CallSpan&) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("known rows: of TensorFlow 1 the row of all streams counts") {
  const auto rows = [](const std::string& device, bool with_streams) {
    TraceText trace;
    const auto row = [&](int pid, const std::string& name, int us) {
      trace.pid(std::to_string(pid)).m("process_name", "{\"name\": \"" + name + "\"}");
      trace.cat("Op").x("MatMul", 0, us).x("MEMCPYHtoD", us, 1).cat("");
    };
    const std::string task = "/job:localhost/replica:0/task:0";
    row(1, task + "/device:CPU:0 Compute", 7);
    row(2, task + device + ":1 Compute", 11);
    if (with_streams) row(3, task + device + ":1/stream:all Compute", 100);
    if (with_streams) row(4, task + device + ":1/stream:14 Compute", 100);
    return read_trace_text(trace);
  };
  for (const char* device : {"/device:GPU", "/gpu"}) {
    CAPTURE(device);
    const Run run = rows(device, true);
    CHECK(device_role_us(run) == RoleUs{{"kernel", 100}, {"memcpy", 1}});
    CHECK(host_role_us(run) == RoleUs{{"cpu", 8}});
    run.ranks.at(0).for_each_device([&](const DeviceSpan& span) { CHECK(span.device == 1); });
    const Run without = rows(device, false);
    CHECK(device_role_us(without).empty());
    int unknown = 0;
    without.ranks.at(0).for_each_unknown([&](const UnknownSpans& spans) {
      CHECK(spans.is_whole_device);
      ++unknown;
    });
    CHECK(unknown == 1);
  }
}

TEST_CASE("known rows: Horovod's time line is communication") {
  TraceText trace;
  trace.pid("1").m("process_name", R"({"name": "allreduce.layer0.weight"})");
  trace.b("NEGOTIATE_ALLREDUCE", 0).x("0", 5, 0).e(30).b("ALLREDUCE", 30).b("NCCL_ALLREDUCE", 40);
  trace.e(80).e(90);
  const Run run = read_trace_text(trace);
  CHECK(host_role_us(run) == RoleUs{{"communication", 130}, {"cpu", 0}});
  CHECK(classify("ALLREDUCE", "user_annotation").role == Role::other);
  // One collective, of which the others are parts.
  CHECK(classify("ALLREDUCE", "").mark == SpanMark::collective);
  CHECK(classify("NCCL_ALLREDUCE", "").mark == SpanMark::none);
  CHECK(classify("MPI_Init", "").mark == SpanMark::none);
}

TEST_CASE("known rows: of spans without category whose names and rows nobody knows all is other") {
  TraceText trace;
  trace.b("add_11 Cmpt Prep", 0).e("add_11 Cmpt Prep", 30).x("SenRdmaSend", 30, 10);
  const Run run = read_trace_text(trace);
  CHECK(host_role_us(run) == RoleUs{{"other", 40}});
  CHECK(run.ranks.at(0).steps.list.at(0).time == Interval{0, 40'000});
  for (const char* known : {"enumerate(DataLoader)#X", "ProfilerStep#3", "event/batch"}) {
    CAPTURE(known);
    TraceText more = trace;
    const Run with = read_trace_text(more.x(known, 50, 1));
    CHECK(host_role_us(with).at("cpu") == 40);
  }
  CHECK(host_role_us(read_trace_text(trace.cat("python").x("main", 50, 1))) == RoleUs{{"cpu", 41}});
}
