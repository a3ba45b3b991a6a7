#include "analysis/devices/device_work.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <tuple>

using namespace traceloom;

namespace {

// A device with streams 7 and 8, and threads of its host that launch and block.
class HostAndDevice {
 public:
  HostAndDevice& call(std::string_view name, int from, int dur, int correlation = 0,
                      const char* thread = "1") {
    trace_.pid("100").tid(thread).cat("cuda_runtime");
    trace_.x(name, from, dur,
             correlation == 0 ? "" : fmt::format(R"({{"correlation": {}}})", correlation));
    return *this;
  }
  HostAndDevice& kernel(int from, int dur, int correlation = 0, int stream = 7) {
    const std::string more =
        correlation == 0 ? "" : fmt::format(R"(, "correlation": {})", correlation);
    trace_.pid("0").tid(std::to_string(stream)).cat("kernel");
    trace_.x("gemm", from, dur, fmt::format(R"({{"device": 0, "stream": {}{}}})", stream, more));
    return *this;
  }
  // A kernel that lasts until 10, launched at 0: what comes next ends a gap that begins there.
  HostAndDevice& begin() { return call("cudaLaunchKernel", 0, 2, 1).kernel(4, 6, 1); }

  Run run() const { return read_texts({{"rank0.json", trace_.array()}}); }
  ReportRow idle() const { return rows_of(idle_report(run(), {}), "rows").at(0); }
  // Host wait, turn-around, queued, blocked, not recorded; in microseconds.
  std::string kinds() const {
    const ReportRow row = idle();
    return fmt::format("{} {} {} {} {}", number_in(row, "host_wait_ns") / 1000,
                       number_in(row, "turn_around_ns") / 1000, number_in(row, "queued_ns") / 1000,
                       number_in(row, "blocked_ns") / 1000,
                       number_in(row, "not_recorded_ns") / 1000);
  }

 private:
  TraceText trace_;
};

}  // namespace

TEST_CASE("gap kinds: the host was late, until the work that it launched could begin") {
  HostAndDevice late;
  late.begin().call("cudaLaunchKernel", 50, 5, 2).kernel(60, 10, 2);
  CHECK(late.kinds() == "50 0 0 0 0");
  // Work that begins long after its call waited for something that was not recorded.
  HostAndDevice later;
  later.begin().call("cudaLaunchKernel", 50, 5, 2).kernel(160, 10, 2);
  CHECK(later.kinds() == "45 0 105 0 0");
  CHECK(number_in(later.idle(), "kernel_wait_ns") == 0);
  CHECK(number_in(later.idle(), "hta_host_wait_ns") == 150'000);
}

TEST_CASE("gap kinds: what was launched before the gap is queued, or behind the last work") {
  for (const auto& [stream, short_kinds, long_kinds] :
       {std::tuple{7, "0 15 0 0 0", "0 100 0 0 0"}, std::tuple{8, "0 0 15 0 0", "0 0 100 0 0"}}) {
    HostAndDevice soon;
    soon.begin().call("cudaLaunchKernel", 5, 2, 2).kernel(25, 10, 2, stream);
    CHECK(soon.kinds() == short_kinds);
    CHECK(number_in(soon.idle(), "kernel_wait_ns") == 15'000);
    HostAndDevice waits;
    waits.begin().call("cudaGraphLaunch", 5, 2, 2).kernel(110, 10, 2, stream);
    CHECK(waits.kinds() == long_kinds);
    CHECK(number_in(waits.idle(), "kernel_wait_ns") == 0);
    CHECK(number_in(waits.idle(), "hta_other_ns") == 100'000);
    // Nothing is blocked by what waits for work that is there.
    waits.call("cudaDeviceSynchronize", 12, 97);
    CHECK(waits.kinds() == long_kinds);
  }
}

TEST_CASE(
    "gap kinds: work is launched when its call returns, or when it began if it waits itself") {
  // Stream 7 works until 10; the call began before that.
  HostAndDevice slow;
  slow.begin().call("cudaLaunchKernel", 5, 75, 2).kernel(82, 10, 2);
  CHECK(slow.kinds() == "72 0 0 0 0");
  HostAndDevice copy;
  copy.begin().call("cudaMemcpyAsync", 5, 75, 2).kernel(82, 10, 2);
  CHECK(copy.kinds() == "0 72 0 0 0");
  // A graph goes on with its work while its call has not returned.
  HostAndDevice graph;
  graph.call("cudaGraphLaunch", 0, 75, 1).kernel(4, 6, 1).kernel(60, 10, 1);
  CHECK(graph.kinds() == "0 50 0 0 0");
}

TEST_CASE("gap kinds: a thread that sits in a call which waits for the device is blocked") {
  // Only until the next work is launched.
  HostAndDevice same;
  same.begin().call("hipMemcpyWithStream", 20, 140).call("cudaLaunchKernel", 185, 5, 2);
  CHECK(same.kernel(200, 10, 2).kinds() == "50 0 0 140 0");
  HostAndDevice after;
  after.begin().call("cudaLaunchKernel", 20, 5, 2).call("hipMemcpyWithStream", 30, 160);
  CHECK(after.kernel(200, 10, 2).kinds() == "15 0 175 0 0");
  // Another thread that is blocked has nothing to do with that launch.
  HostAndDevice other;
  other.begin().call("cudaDeviceSynchronize", 12, 170, 0, "2").call("cudaLaunchKernel", 100, 5, 2);
  other.kernel(200, 10, 2).call("cudaLaunchKernel", 205, 2, 3, "2").kernel(210, 10, 3);
  CHECK(other.kinds() == "95 0 95 0 0");
  // A copy is only launched where the call returns at once, and events are waited for by streams.
  HostAndDevice launches;
  launches.begin().call("cudaMemcpyAsync", 20, 49, 2).call("cudaStreamWaitEvent", 70, 100);
  CHECK(launches.kernel(200, 10, 2).kinds() == "59 0 131 0 0");
}

TEST_CASE("gap kinds: no launch, no reason; where no event tells any, the host is to blame") {
  HostAndDevice lost;
  lost.begin().kernel(110, 10, 77);
  CHECK(lost.kinds() == "0 0 0 0 100");
  HostAndDevice blocked;
  blocked.begin().kernel(110, 10, 77).call("cudaStreamSynchronize", 20, 80);
  CHECK(blocked.kinds() == "0 0 0 0 100");
  HostAndDevice old;
  old.kernel(4, 6).call("cudaDeviceSynchronize", 20, 30).kernel(110, 10);
  CHECK(old.kinds() == "70 0 0 30 0");
  CHECK(idle_report(old.run(), {}).notes.at(0) ==
        "the launch of 2 of 2 pieces of device work is not in these traces: gaps "
        "before them count as host wait");
}

TEST_CASE("blocking calls: by name and length, of every runtime") {
  for (const char* const call :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
        "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize",
        "zeEventHostSynchronize", "urQueueFinish", "aclrtSynchronizeStream"})
    CHECK(least_blocking_ns(call) == 0);
  for (const char* const call :
       {"cudaMemcpy", "cudaMemcpyAsync", "hipMemcpyWithStream", "cuMemcpyDtoHAsync_v2"})
    CHECK(least_blocking_ns(call) == 50'000);
  for (const char* const call : {"cudaLaunchKernel", "cudaStreamWaitEvent", "cudaEventQuery"})
    CHECK(least_blocking_ns(call) > 1'000'000'000'000);
  CHECK(is_reading_operator("aten::_local_scalar_dense"));
  CHECK_FALSE(is_reading_operator("aten::add"));
}
