#include "analysis/memory/device_memory.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

// Makes an event of the allocator of GPU 0, with its total if one is given.
std::string gpu(std::int64_t bytes, std::int64_t address, std::int64_t total = kNotGiven) {
  const std::string told =
      total == kNotGiven
          ? std::string()
          : fmt::format(R"(, "Total Allocated": {}, "Total Reserved": {})", total, total + 50);
  return fmt::format(R"({{"Device Type": 1, "Device Id": 0, "Bytes": {}, "Addr": {}{}}})", bytes,
                     address, told);
}

Run read(const TraceText& trace) {
  return read_texts({{"rank0.json", trace.array()}}, {.details = true, .samples = true});
}

// Makes three steps of 100 us. Each allocates 100 bytes in aten::mm inside aten::linear, and frees
// all but 10 bytes of them.
TraceText leaking_steps() {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    const int at = step * 100;
    const int base = 1000 + step * 10;
    trace.cat("user_annotation").x("ProfilerStep#" + std::to_string(step), at, 100);
    trace.cat("cpu_op").x("aten::linear", at + 10, 50).x("aten::mm", at + 20, 10);
    trace.cat("cpu_instant_event")
        .i("[memory]", at + 22, gpu(100, step * 10 + 1, base + 100))
        .i("[memory]", at + 40, gpu(10, step * 10 + 2, base + 110))
        .i("[memory]", at + 90, gpu(-100, step * 10 + 1, base + 10));
  }
  return trace;
}

}  // namespace

TEST_CASE("memory: the curve has a start, a peak, an end, and grows by what a step leaves") {
  const Report report = memory_report(read(leaking_steps()), {}, {});
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(text_in(row, "device") == "GPU0");
  CHECK(number_in(row, "allocations") == 6);
  CHECK(number_in(row, "frees") == 3);
  CHECK(number_in(row, "start_bytes") == 1000);
  CHECK(number_in(row, "peak_bytes") == 1130);
  CHECK(number_in(row, "end_bytes") == 1030);
  CHECK(number_in(row, "reserved_peak_bytes") == 1180);
  CHECK(number_in(row, "unfreed_bytes") == 30);
  CHECK(number_in(row, "growth_bytes_per_step") == 10);
  CHECK(number_in(row, "peak_at_ns") == 240'000);
  CHECK(number_in(row, "peak_step") == 2);
  CHECK(text_in(row, "peak_op") == "aten::linear");
  // 1100 x 18 + 1110 x 50 + 1010 x 32 and so on: 292,900 over 268.
  CHECK(number_in(row, "mean_bytes") == 1092);
  CHECK(report.headline.at(0) ==
        "Rank 0: GPU0 peaks at 1.1 KiB, in step 2, while aten::linear ran.");
}

TEST_CASE("memory: between two runs of a rank nothing weighs in the mean") {
  const auto run = [](int at_us, int bytes) {
    return TraceText()
        .composer_rank(0, "1000")
        .cat("cpu_op")
        .x("aten::mm", at_us, 100)
        .cat("cpu_instant_event")
        .i("[memory]", at_us, gpu(bytes, 1, bytes))
        .i("[memory]", at_us + 100, gpu(-bytes, 1, 0))
        .array();
  };
  // 100 us of 1000 bytes, 100 us of 3000 bytes, and a second between them.
  const Run both = read_texts({{"a.json", run(0, 1000)}, {"b.json", run(1'000'000, 3000)}},
                              {.details = true, .samples = true});
  const ReportRow row = rows_of(memory_report(both, {}, {}), "rows").at(0);
  CHECK(number_in(row, "mean_bytes") == 2000);
}

TEST_CASE("memory: who allocated, in all, at the peak, and never freed") {
  const Report report = memory_report(read(leaking_steps()), {}, {});
  const std::vector<ReportRow> operators = rows_of(report, "operators");
  REQUIRE(operators.size() == 3);
  CHECK(text_in(operators[0], "name") == "aten::mm");
  CHECK(number_in(operators[0], "calls") == 3);
  CHECK(number_in(operators[0], "self_alloc_bytes") == 300);
  CHECK(number_in(operators[0], "self_count") == 3);
  CHECK(text_in(operators[1], "name") == "aten::linear");
  CHECK(number_in(operators[1], "self_alloc_bytes") == 30);
  CHECK(number_in(operators[1], "alloc_bytes") == 330);
  CHECK(number_in(operators[1], "increase_bytes") == 330);
  CHECK(text_in(operators[2], "name") == kNoOperatorName);
  CHECK(number_in(operators[2], "self_increase_bytes") == -300);
  const std::vector<ReportRow> peak = rows_of(report, "peak");
  REQUIRE(peak.size() == 3);
  CHECK(text_in(peak[0], "name") == "(before the trace)");
  CHECK(number_in(peak[0], "bytes") == 1000);
  CHECK(number_in(peak[1], "bytes") == 100);
  CHECK(number_in(peak[2], "bytes") == 30);
  CHECK(share_in(peak[0], "share") + share_in(peak[1], "share") + share_in(peak[2], "share") ==
        doctest::Approx(1));
  const std::vector<ReportRow> unfreed = rows_of(report, "unfreed");
  REQUIRE(unfreed.size() == 1);
  CHECK(text_in(unfreed[0], "name") == "aten::linear");
  CHECK(number_in(unfreed[0], "bytes") == 30);
  CHECK(number_in(unfreed[0], "steps") == 3);
}

TEST_CASE("memory: rows of operators behind the first ones become one, without totals") {
  const Report report = memory_report(read(leaking_steps()), {}, {.operators = 1});
  const std::vector<ReportRow> rows = rows_of(report, "operators");
  REQUIRE(rows.size() == 2);
  CHECK(text_in(rows[1], "name") == "(2 others)");
  CHECK(number_in(rows[1], "self_alloc_bytes") == 30);
  CHECK(std::holds_alternative<std::monostate>(cell_in(rows[1], "alloc_bytes")));
  CHECK(rows_of(memory_report(read(leaking_steps()), {}, {.operators = 0}), "operators").size() ==
        3);
}

TEST_CASE("memory: points of the curve are the highest until the next one") {
  const Report report = memory_report(read(leaking_steps()), {}, {.curve = 2});
  const std::vector<ReportRow> points = rows_of(report, "curve");
  REQUIRE(points.size() == 2);
  CHECK(number_in(points[0], "at_ns") == 22'000);
  CHECK(number_in(points[0], "allocated_bytes") == 1120);
  CHECK(number_in(points[1], "allocated_bytes") == 1130);
}

TEST_CASE("memory: snapshots and categories of timelines have curves, too") {
  MemoryFiles files;
  files.snapshots.push_back({.path = "s", .rank = 2});
  files.snapshots[0].devices.emplace_back().curve = {
      {100, 10, 11, 12}, {150, 40, 41, 42}, {190, 20, 21, 22}, {200, 30, 31, 32}};
  files.timelines.push_back({{}, 1});
  files.timelines[0].curve = {{0, {5}}, {9, {6, 0, 1}}, {20, {2}}};
  const std::vector<ReportRow> points = rows_of(memory_report(Run{}, files, {.curve = 2}), "curve");
  REQUIRE(points.size() == 6);
  CHECK(number_in(points[0], "rank") == 2);
  CHECK(text_in(points[0], "device") == "GPU0");
  CHECK(number_in(points[0], "at_ns") == 0);
  CHECK(number_in(points[0], "allocated_bytes") == 41);
  CHECK(number_in(points[1], "at_ns") == 50);
  CHECK(number_in(points[1], "reserved_bytes") == 42);
  CHECK(number_in(points[2], "rank") == 1);
  CHECK(text_in(points[2], "category") == "parameter");
  CHECK(number_in(points[2], "allocated_bytes") == 6);
  CHECK(text_in(points[4], "category") == "input");
  CHECK(number_in(points[5], "allocated_bytes") == 1);
}

TEST_CASE("memory: events without totals or addresses tell what changed, and say so") {
  const Report report = memory_report(
      read(TraceText()
               .i("[memory]", 10, R"({"Device Type": 0, "Device Id": -1, "Bytes": 70})")
               .i("[memory]", 20, R"({"Device Type": 0, "Device Id": -1, "Bytes": -30})")),
      {}, {});
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(text_in(row, "device") == "CPU");
  CHECK(number_in(row, "start_bytes") == 0);
  CHECK(number_in(row, "peak_bytes") == 70);
  CHECK(number_in(row, "end_bytes") == 40);
  CHECK(std::holds_alternative<std::monostate>(cell_in(row, "unfreed_bytes")));
  CHECK(std::holds_alternative<std::monostate>(cell_in(row, "reserved_peak_bytes")));
  CHECK(std::holds_alternative<std::monostate>(cell_in(row, "growth_bytes_per_step")));
  CHECK(report.notes.at(0) ==
        "the events have no totals (Total Allocated): counted from 0 where the trace begins");
  CHECK(report.notes.at(1) ==
        "the events have no addresses (Addr): it is not known who freed what and who held the "
        "peak");
}

TEST_CASE("memory: nothing to tell is said, and divides by nothing") {
  const Report report = memory_report(read(TraceText()), {}, {.curve = 3});
  CHECK(rows_of(report, "rows").empty());
  CHECK(report.notes.at(0) ==
        "no \"[memory]\" events in these traces: torch.profiler writes them with profile_memory");
  CHECK(report.notes.at(1) == "no counters of memory in these traces");
  const Report single = memory_report(
      read(TraceText().i("[memory]", 10, R"({"Bytes": 0})").i("[memory]", 10, R"({"x": 1})")), {},
      {.curve = 2});
  CHECK(number_in(rows_of(single, "rows").at(0), "mean_bytes") == 0);
  CHECK(number_in(rows_of(single, "rows").at(0), "allocations") == 1);
}

TEST_CASE("memory: an allocation belongs to what runs from its start and before its end") {
  const Run run = read(TraceText()
                           .cat("cpu_op")
                           .x("outer", 10, 30)
                           .x("first", 10, 10)
                           .x("second", 20, 10)
                           .tid("2")
                           .x("elsewhere", 0, 100)
                           .tid("1")
                           .i("[memory]", 10, gpu(1, 1))
                           .i("[memory]", 20, gpu(2, 2))
                           .i("[memory]", 30, gpu(4, 3))
                           .i("[memory]", 40, gpu(8, 4)));
  const DeviceMemory device = find_device_memory(run).at(0);
  CHECK(device.operators.at("first").self_alloc == 1);
  CHECK(device.operators.at("second").self_alloc == 2);
  CHECK(device.operators.at("outer").self_alloc == 4);
  CHECK(device.operators.at("outer").alloc == 7);
  CHECK(device.operators.at(std::string(kNoOperatorName)).self_alloc == 8);
  CHECK_FALSE(device.operators.contains("elsewhere"));
}

TEST_CASE("memory: counters of memory are in bytes, with their growth a step") {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    trace.x("ProfilerStep#" + std::to_string(step), step * 100, 100);
    trace.c("memory/rss", step * 100 + 50, fmt::format(R"({{"rss_mb": {}}})", 100 + step));
    trace.c("memory/swap", step * 100 + 50, R"({"used_gb": 0, "free_gb": 0})");
  }
  const Report report = memory_report(read(trace), {}, {});
  const std::vector<ReportRow> rows = rows_of(report, "host");
  REQUIRE(rows.size() == 1);
  CHECK(text_in(rows[0], "counter") == "memory/rss");
  CHECK(share_in(rows[0], "start") == 100e6);
  CHECK(share_in(rows[0], "mean") == 101e6);
  CHECK(share_in(rows[0], "most") == 102e6);
  CHECK(share_in(rows[0], "growth_per_step") == doctest::Approx(1e6));
  CHECK(rows_of(memory_report(read(trace), {}, {.all_values = true}), "host").size() == 3);
}

TEST_CASE("slope: is that of the nearest line, and none of a point") {
  CHECK(slope_of({{1, 100}, {2, 110}, {4, 130}}) == doctest::Approx(10));
  CHECK_FALSE(slope_of({}).has_value());
  CHECK_FALSE(slope_of({{3, 1}}).has_value());
  CHECK_FALSE(slope_of({{3, 1}, {3, 9}}).has_value());
}
