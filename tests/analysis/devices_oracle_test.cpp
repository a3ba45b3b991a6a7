// gpu, idle, launch and memcpy against the slow, obvious answers, over random traces.
#include "analysis/reports/reports.h"
#include "oracle/devices.h"
#include "support/merge_texts.h"
#include "support/random_devices.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace traceloom;

namespace {

constexpr std::int64_t kKernelGapUs = 8;
constexpr IdleOptions kIdle{.kernel_gap_ns = kKernelGapUs * 1000, .host_rows = 1000};
const std::uint64_t kSeeds = tries(150);

struct Case {
  Run run;
  oracle::DeviceFacts facts;
};

Case make_case(std::uint32_t seed) {
  const std::string text = random_devices(seed, 0);
  return {read_texts({{"rank0.json", text}}, {.details = true, .threads = 1 + seed % 3}),
          oracle::find_device_facts(text, kKernelGapUs)};
}

bool is_null(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

// The least value that `percent` of them lie below or at.
template <typename Number>
Number place_of(const std::vector<Number>& sorted, std::size_t percent) {
  return sorted.at((sorted.size() * percent + 99) / 100 - 1);
}

std::pair<int, int> stream_of(const ReportRow& row) {
  const Cell& stream = cell_in(row, "stream");
  return {static_cast<int>(number_in(row, "device")),
          is_null(stream) ? -1 : static_cast<int>(std::get<std::int64_t>(stream))};
}

std::int64_t kind_in(const std::map<std::string, std::int64_t>& kinds, const std::string& kind) {
  const auto found = kinds.find(kind);
  return found == kinds.end() ? 0 : found->second;
}

void check_idle_row(const ReportRow& row, const oracle::IdleTimes& times) {
  CHECK(number_in(row, "total_ns") == times.total);
  CHECK(number_in(row, "host_wait_ns") == kind_in(times.kinds, "host wait"));
  CHECK(number_in(row, "turn_around_ns") == kind_in(times.kinds, "turn-around"));
  CHECK(number_in(row, "queued_ns") == kind_in(times.kinds, "queued"));
  CHECK(number_in(row, "blocked_ns") == kind_in(times.kinds, "blocked"));
  CHECK(number_in(row, "not_recorded_ns") == kind_in(times.kinds, "not recorded"));
  CHECK(number_in(row, "kernel_wait_ns") == times.kernel_wait);
  CHECK(number_in(row, "hta_host_wait_ns") == kind_in(times.hta, "host wait"));
  CHECK(number_in(row, "hta_kernel_wait_ns") == kind_in(times.hta, "kernel wait"));
  CHECK(number_in(row, "hta_other_ns") == kind_in(times.hta, "other"));
  CHECK(number_in(row, "idle_ns") ==
        number_in(row, "host_wait_ns") + number_in(row, "turn_around_ns") +
            number_in(row, "queued_ns") + number_in(row, "blocked_ns") +
            number_in(row, "not_recorded_ns"));
  CHECK(number_in(row, "gaps") == static_cast<std::int64_t>(times.gaps.size()));
  CHECK(is_null(cell_in(row, "gap_p50_ns")) == times.gaps.empty());
  if (times.gaps.empty()) return;
  CHECK(number_in(row, "gap_p50_ns") == place_of(times.gaps, 50));
  CHECK(number_in(row, "gap_max_ns") == times.gaps.back());
}

std::string text_unless_null(const ReportRow& row, std::string_view key) {
  return is_null(cell_in(row, key)) ? "" : text_in(row, key);
}

// Everything that the four commands say, to the nanosecond.
std::string all_texts(const Run& run) {
  std::string text;
  for (Report report : {gpu_report(run), idle_report(run, kIdle), launch_report(run, {}),
                        memcpy_report(run, {.by_rank = true, .by_device = true})}) {
    for (ReportTable& part : report.tables) part.table.show_in(TimeUnit::ns);
    for (const auto& [key, value] : report.values) text += value + "\n";
    text += render_report(report, TableFormat::text, {});
  }
  return text;
}

}  // namespace

TEST_CASE("gpu: busy times and types of work are those of every microsecond") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Case made = make_case(seed);
    const std::vector<DeviceTimes> all = device_times(made.run);
    CHECK(all.size() == made.facts.busy.size());
    for (const DeviceTimes& found : all) {
      const oracle::BusyTimes& times = made.facts.busy.at(found.device);
      CHECK(found.total_ns == times.total);
      CHECK(found.compute_ns == times.compute);
      CHECK(found.exposed_comm_ns == times.exposed_comm);
      CHECK(found.exposed_memcpy_ns == times.exposed_memcpy);
      CHECK(found.idle_ns == times.idle);
      CHECK(found.kernel_ns == times.kernel);
      CHECK(found.comm_ns == times.comm);
      CHECK(found.memcpy_ns == times.memcpy);
      CHECK(found.overlap_ns == times.overlap);
    }
    std::map<std::string, std::int64_t> types;
    for (const ReportRow& row : rows_of(gpu_report(made.run), "types"))
      types[text_in(row, "type")] = number_in(row, "total_ns");
    CHECK(types == made.facts.types);
  }
}

TEST_CASE("idle: gaps, their kinds and the host in them are those of every microsecond") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Case made = make_case(seed);
    const Report report = idle_report(made.run, kIdle);
    const std::vector<ReportRow> devices = rows_of(report, "rows");
    const std::vector<ReportRow> streams = rows_of(report, "streams");
    REQUIRE(devices.size() == made.facts.idle.size());
    REQUIRE(streams.size() == made.facts.stream_idle.size());
    std::int64_t idle_ns = 0;
    for (const ReportRow& row : devices) {
      check_idle_row(row, made.facts.idle.at(static_cast<int>(number_in(row, "device"))));
      idle_ns += number_in(row, "idle_ns");
    }
    for (const ReportRow& row : streams)
      check_idle_row(row, made.facts.stream_idle.at(stream_of(row)));
    decltype(made.facts.hosts) hosts;
    for (const ReportRow& row : rows_of(report, "hosts")) {
      hosts[{text_in(row, "gap"), text_unless_null(row, "op"), text_unless_null(row, "call")}] =
          number_in(row, "idle_ns");
      idle_ns -= number_in(row, "idle_ns");
    }
    CHECK(hosts == made.facts.hosts);
    CHECK(idle_ns == 0);
  }
}

TEST_CASE("launch: delays and queues are those of every call compared with all work") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Case made = make_case(seed);
    const Report report = launch_report(made.run, {.op_rows = 1000});
    const std::vector<ReportRow> rows = rows_of(report, "rows");
    REQUIRE(rows.size() == made.facts.launches.size());
    for (const ReportRow& row : rows) {
      const oracle::LaunchTimes& times = made.facts.launches.at(stream_of(row));
      CHECK(number_in(row, "work") == times.work);
      CHECK(number_in(row, "launches") == times.launches);
      CHECK(is_null(cell_in(row, "delay_p50_ns")) == times.delays.empty());
      if (times.delays.empty()) continue;
      CHECK(number_in(row, "delay_p50_ns") == place_of(times.delays, 50));
      CHECK(number_in(row, "delay_p90_ns") == place_of(times.delays, 90));
      CHECK(number_in(row, "delay_max_ns") == times.delays.back());
      // Calls of no length, as those of Ascend, say nothing of what is shorter than they are.
      CHECK(is_null(cell_in(row, "short_share")) == (times.in_calls == 0));
      if (times.in_calls > 0)
        CHECK(share_in(row, "short_share") ==
              doctest::Approx(static_cast<double>(times.short_ones) /
                              static_cast<double>(times.launches)));
    }
    for (const ReportRow& row : rows_of(report, "queues")) {
      const oracle::LaunchTimes& times = made.facts.launches.at(stream_of(row));
      CHECK(times.queue.front() >= 0);
      CHECK(number_in(row, "queue_p50") == place_of(times.queue, 50));
      CHECK(number_in(row, "queue_p99") == place_of(times.queue, 99));
      CHECK(number_in(row, "queue_max") == times.queue.back());
      if (times.queue_time > 0)
        CHECK(share_in(row, "empty_share") ==
              doctest::Approx(static_cast<double>(times.empty) /
                              static_cast<double>(times.queue_time)));
    }
    decltype(made.facts.short_of_ops) ops;
    for (const ReportRow& row : rows_of(report, "ops")) {
      const std::string op = text_in(row, "op");
      const bool has_length = made.facts.in_calls_of_ops.at(op) > 0;
      CHECK(is_null(cell_in(row, "short")) == !has_length);
      ops[op] = has_length ? number_in(row, "short") : 0;
    }
    CHECK(ops == made.facts.short_of_ops);
    decltype(made.facts.launches_of_calls) calls;
    for (const ReportRow& row : rows_of(report, "calls"))
      calls[text_in(row, "call")] = number_in(row, "launches");
    CHECK(calls == made.facts.launches_of_calls);
  }
}

TEST_CASE("memcpy: sums and bandwidths are those of all transfers one by one") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Case made = make_case(seed);
    const std::vector<ReportRow> rows = rows_of(memcpy_report(made.run, {}), "rows");
    REQUIRE(rows.size() == made.facts.transfers.size());
    for (const ReportRow& row : rows) {
      const std::string memory = text_unless_null(row, "memory");
      const oracle::TransferTimes& times = made.facts.transfers.at(
          text_in(row, "kind") + (memory.empty() ? "" : " (" + memory + ")"));
      CHECK(number_in(row, "count") == times.count);
      CHECK(number_in(row, "total_ns") == times.total);
      CHECK(number_in(row, "exposed_ns") == times.exposed);
      const Cell& bytes = cell_in(row, "bytes");
      CHECK((is_null(bytes) ? 0 : std::get<std::int64_t>(bytes)) == times.bytes);
      CHECK(is_null(cell_in(row, "gbps_p50")) == times.gbps.empty());
      if (times.gbps.empty()) continue;
      CHECK(share_in(row, "gbps_min") == doctest::Approx(times.gbps.front()));
      CHECK(share_in(row, "gbps_p50") == doctest::Approx(place_of(times.gbps, 50)));
      CHECK(share_in(row, "gbps_max") == doctest::Approx(times.gbps.back()));
    }
  }
}

TEST_CASE("devices: threads, the order of files and a merge change nothing") {
  for (std::uint32_t seed = 0; seed < tries(40); ++seed) {
    CAPTURE(seed);
    const NamedTexts files{{"a.json", random_devices(seed, 0)},
                           {"b.json", random_devices(seed, 1)},
                           {"c.json", random_devices(seed, 2)}};
    const NamedTexts turned{
        {"c.json", files[2].second}, {"a.json", files[0].second}, {"b.json", files[1].second}};
    const std::string expected = all_texts(read_texts(files, {.details = true, .threads = 1}));
    CHECK(all_texts(read_texts(turned, {.details = true, .threads = 3})) == expected);
    for (const PidLayout pids : {PidLayout::rank, PidLayout::split}) {
      const std::string merged = merge_texts(files, 2, AlignBy::any, pids);
      CHECK(all_texts(read_texts({{"merged.json", merged}}, {.details = true})) == expected);
    }
  }
}
