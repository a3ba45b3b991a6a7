#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace traceloom;

namespace {

std::string on(int device) {
  return "{\"device\": " + std::to_string(device) + ", \"stream\": 7}";
}

}  // namespace

TEST_CASE("gpu: columns of a device are exact and add up") {
  const Run run = read_texts({{"rank0.json", TraceText()
                                                 .cat("kernel")
                                                 .x("gemm", 10, 40, on(0))
                                                 .x("ncclDevKernel_AllReduce", 30, 40, on(0))
                                                 .cat("gpu_memcpy")
                                                 .x("Memcpy DtoH", 65, 15, on(0))
                                                 .cat("gpu_memset")
                                                 .x("Memset", 100, 10, on(0))
                                                 .array()}});
  const std::vector<DeviceTimes> times = device_times(run);
  REQUIRE(times.size() == 1);
  CHECK(times[0].total_ns == 100'000);
  CHECK(times[0].compute_ns == 50'000);
  CHECK(times[0].kernel_ns == 40'000);
  CHECK(times[0].exposed_comm_ns == 20'000);
  CHECK(times[0].exposed_memcpy_ns == 10'000);
  CHECK(times[0].idle_ns == 20'000);
  CHECK(times[0].overlap_ns == 20'000);
}

TEST_CASE("gpu: a row each device of a rank, by its args or else its pid") {
  const Run run = read_texts(
      {{"rank0.json",
        TraceText().cat("kernel").pid("3").x("gemm", 0, 10).x("gemm", 0, 10, on(1)).array()}});
  const std::vector<DeviceTimes> times = device_times(run);
  REQUIRE(times.size() == 2);
  CHECK(times[0].device == 1);
  CHECK(times[1].device == 3);
}

TEST_CASE("gpu: efficiency and occupancy are those of the kernels that tell them") {
  const Run run =
      read_texts({{"rank0.json",
                   TraceText()
                       .cat("user_annotation")
                       .x("ProfilerStep#1", 0, 100)
                       .cat("kernel")
                       .x("a", 0, 20, R"({"blocks per SM": 0.5, "est. achieved occupancy %": 60})")
                       .x("b", 40, 40, R"({"blocks per SM": 3, "est. achieved occupancy %": 30})")
                       .array()}},
                 {.details = true});
  const DeviceTimes times = device_times(run).at(0);
  CHECK(times.utilization == 0.6);
  CHECK(*times.sm_efficiency == doctest::Approx(0.5));
  CHECK(*times.occupancy == doctest::Approx(0.4));
}

TEST_CASE("gpu: random devices are those of every microsecond by itself") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    TraceText trace;
    std::array<std::array<bool, 4>, 100> held{};
    const std::array<std::pair<const char*, const char*>, 4> kinds{{{"gemm", "kernel"},
                                                                    {"ncclX", "kernel"},
                                                                    {"Memcpy", "gpu_memcpy"},
                                                                    {"Memset", "gpu_memset"}}};
    for (int i = 0; i < 12; ++i) {
      const auto kind = static_cast<std::size_t>(std::uniform_int_distribution(0, 3)(random));
      const int from = std::uniform_int_distribution(0, 80)(random);
      const int length = std::uniform_int_distribution(1, 15)(random);
      trace.cat(kinds[kind].second).x(kinds[kind].first, from, length, on(0));
      for (int us = from; us < from + length; ++us) held[us][kind] = true;
    }
    std::int64_t compute = 0;
    std::int64_t comm = 0;
    std::int64_t memcpy = 0;
    for (const auto& [kernel, nccl, copy, set] : held) {
      compute += kernel || set ? 1000 : 0;
      comm += nccl && !kernel && !set ? 1000 : 0;
      memcpy += copy && !nccl && !kernel && !set ? 1000 : 0;
    }
    const DeviceTimes times = device_times(read_texts({{"rank0.json", trace.array()}})).at(0);
    CHECK(times.compute_ns == compute);
    CHECK(times.exposed_comm_ns == comm);
    CHECK(times.exposed_memcpy_ns == memcpy);
    CHECK(times.compute_ns + times.exposed_comm_ns + times.exposed_memcpy_ns + times.idle_ns ==
          times.total_ns);
  }
}

TEST_CASE("gpu: no device is said, and no row") {
  const Report report = gpu_report(
      read_texts({{"rank0.json", TraceText().cat("cpu_op").x("aten::mm", 0, 10).array()}}));
  CHECK(rows_of(report, "rows").empty());
  CHECK(report.notes.at(0) == "no device activity in these traces: no devices to show");
}
