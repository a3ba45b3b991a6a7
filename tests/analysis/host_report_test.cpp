#include "analysis/memory/counter_series.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

Run read(const std::vector<std::pair<std::string, std::string>>& files) {
  return read_texts(files, {.samples = true});
}

ReportRow row_of(const Report& report, std::string_view counter) {
  for (const ReportRow& row : rows_of(report, "rows"))
    if (text_in(row, "counter") == counter) return row;
  throw std::runtime_error("no counter " + std::string(counter));
}

double value_in(const Report& report, std::string_view counter, std::string_view column) {
  return share_in(row_of(report, counter), column);
}

// A second apart; what Composer's profiler writes of a host with 2 GiB used and 4 GiB available,
// that sends 1000 bytes a second.
TraceText composer_counters() {
  TraceText trace;
  for (int i = 0; i < 3; ++i) {
    const int at = i * 1'000'000;
    trace.c("cpu", at, fmt::format(R"({{"cpu_percent": {}}})", 20 * i));
    trace.c("memory/virtual", at, R"({"used_gb": 4194304.0, "available_gb": 8388608.0})");
    trace.c("network/eth0/kb_sent", at, fmt::format(R"({{"kb_sent": {}}})", 500 + i * 125));
    trace.c("disk/sda/write_bytes", at, fmt::format(R"({{"field_name": {}}})", 7000 + i * 4096));
    trace.c("disk/sda/busy_time", at, fmt::format(R"({{"field_name": {}}})", i * 250));
  }
  return trace;
}

}  // namespace

TEST_CASE("host: Composer's totals become rates, and its units bytes") {
  const Report report = host_report(read({{"rank0.json", composer_counters().array()}}), {});
  CHECK(value_in(report, "memory/virtual/used", "mean") == 2147483648.0);
  CHECK(value_in(report, "memory/virtual/available", "p50") == 4294967296.0);
  const ReportRow sent = row_of(report, "network/eth0/sent");
  CHECK(text_in(sent, "unit") == "bytes/s");
  CHECK(text_in(sent, "kind") == "rate");
  CHECK(number_in(sent, "samples") == 2);
  CHECK(share_in(sent, "mean") == doctest::Approx(1000));
  CHECK(value_in(report, "disk/sda/write_bytes", "most") == doctest::Approx(4096));
  CHECK(value_in(report, "disk/sda/busy_time", "mean") == doctest::Approx(0.25));
  const ReportRow cpu = row_of(report, "cpu");
  CHECK(text_in(cpu, "unit") == "share");
  CHECK(share_in(cpu, "mean") == doctest::Approx(0.2));
  CHECK(share_in(cpu, "least") == 0);
  CHECK(share_in(cpu, "p50") == doctest::Approx(0.2));
  CHECK(share_in(cpu, "p90") == doctest::Approx(0.4));
  CHECK(report.notes.at(0) ==
        "Composer's units: its \"_gb\" are taken as blocks of 512 bytes, its \"kb_\" as blocks of "
        "8");
}

TEST_CASE("host: the same names in honest units are taken at their word") {
  const Report report = host_report(
      read({{"rank0.json", TraceText()
                               .c("memory/virtual", 0, R"({"used_gb": 1.5, "available_gb": 20.25})")
                               .c("network/lo/kb_sent", 0, R"({"kb_sent": 100})")
                               .c("network/lo/kb_sent", 1'000'000, R"({"kb_sent": 104})")
                               .c("memory/rss", 0, R"({"rss_mb": "250"})")
                               .array()}}),
      {});
  CHECK(value_in(report, "memory/virtual/used", "mean") == 1.5e9);
  CHECK(value_in(report, "network/lo/sent", "mean") == doctest::Approx(4000));
  CHECK(value_in(report, "memory/rss", "mean") == 250e6);
  CHECK(report.notes.at(0) == "no spans of a data loader: nothing is known of its waits");
}

TEST_CASE("host: without memory counters the values of kb_ say what they are") {
  const auto rate = [](const char* first, const char* second) {
    return value_in(
        host_report(read({{"rank0.json", TraceText()
                                             .c("network/lo/kb_recv", 0,
                                                fmt::format(R"({{"kb_recv": {}}})", first))
                                             .c("network/lo/kb_recv", 1'000'000,
                                                fmt::format(R"({{"kb_recv": {}}})", second))
                                             .array()}}),
                    {}),
        "network/lo/recv", "mean");
  };
  CHECK(rate("10.125", "20.625") == doctest::Approx(84));
  CHECK(rate("10.1234", "20.6234") == doctest::Approx(10'500));
}

TEST_CASE("host: a value counts for the part of its time in which the loop waited") {
  // CPU 10 % in the first second, 90 % in the next: half of the first and a fifth of the second
  // were waits.
  const Run run =
      read({{"rank0.json", TraceText()
                               .c("cpu", 0, R"({"cpu_percent": 50})")
                               .c("cpu", 1'000'000, R"({"cpu_percent": 10})")
                               .c("cpu", 2'000'000, R"({"cpu_percent": 90})")
                               .x("ProfilerStep#1", 0, 2'000'000)
                               .x("enumerate(DataLoader)#It.__next__", 0, 500'000)
                               .x("enumerate(DataLoader)#It.__next__", 1'500'000, 200'000)
                               .x("forward", 1'000'000, 300'000)
                               .array()}});
  const Report report = host_report(run, {});
  CHECK(value_in(report, "cpu", "during") == doctest::Approx((0.5 * 0.1 + 0.2 * 0.9) / 0.7));
  CHECK(value_in(report, "cpu", "elsewhere") == doctest::Approx((0.5 * 0.1 + 0.8 * 0.9) / 1.3));
  const Report forward = host_report(run, {.during = NamePattern("^forw")});
  CHECK(value_in(forward, "cpu", "during") == doctest::Approx(0.9));
  CHECK(host_report(run, {.during = NamePattern("nothing")}).notes.at(0) ==
        "no span of the host has such a name");
}

TEST_CASE("host: a level holds until the next one, a load is of the time before it") {
  const Run run = read({{"rank0.json", TraceText()
                                           .c("queue", 0, R"({"value": 4})")
                                           .c("queue", 100, R"({"value": 8})")
                                           .c("disk/sda", 0, R"({"read_mb_per_s": 1})")
                                           .c("disk/sda", 100, R"({"read_mb_per_s": 2})")
                                           .array()}});
  const std::vector<CounterSeries> all = find_counters(run, run.ranks.at(0));
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "disk/sda/read");
  CHECK(all[0].values.at(1).time == Interval{0, 100'000});
  CHECK(all[0].values.at(1).value == 2e6);
  CHECK(all[1].name == "queue");
  CHECK(all[1].values.at(0).time == Interval{0, 100'000});
  CHECK(all[1].values.at(1).time == Interval{100'000, 100'000});
}

TEST_CASE("host: a rate that our sampler did not write was 0") {
  TraceText trace;
  for (int i = 0; i < 10; ++i) trace.c("cpu", i * 1000, R"({"cpu_percent": 50})");
  trace.c("disk/sda", 3001, R"({"written_mb_per_s": 5})");
  trace.c("disk/sda", 4001, R"({"written_mb_per_s": 0})");
  const ReportRow row =
      row_of(host_report(read({{"rank0.json", trace.array()}}), {}), "disk/sda/written");
  CHECK(number_in(row, "samples") == 10);
  CHECK(share_in(row, "mean") == doctest::Approx(0.5e6));
  CHECK(share_in(row, "most") == 5e6);
}

TEST_CASE("host: rows are of all ranks, or of each") {
  const auto rank = [](int number, int percent) {
    return TraceText()
        .composer_rank(number, "1000")
        .c("cpu", 0, fmt::format(R"({{"cpu_percent": {}}})", percent))
        .array();
  };
  const Run run = read({{"a.json", rank(0, 20)}, {"b.json", rank(1, 40)}});
  const ReportRow both = row_of(host_report(run, {}), "cpu");
  CHECK(number_in(both, "ranks") == 2);
  CHECK(share_in(both, "mean") == doctest::Approx(0.3));
  const std::vector<ReportRow> rows = rows_of(host_report(run, {.by_rank = true}), "rows");
  REQUIRE(rows.size() == 2);
  CHECK(number_in(rows[1], "rank") == 1);
  CHECK(share_in(rows[1], "mean") == doctest::Approx(0.4));
}

TEST_CASE("host: two processes of a rank with one counter are two rows") {
  const Report report = host_report(read({{"rank0.json", TraceText()
                                                             .c("queue", 0, R"({"value": 4})")
                                                             .pid("2")
                                                             .c("queue", 0, R"({"value": 6})")
                                                             .array()}}),
                                    {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  REQUIRE(rows.size() == 2);
  CHECK(text_in(rows[0], "process") == "1");
  CHECK(text_in(rows[1], "process") == "2");
}

TEST_CASE("host: a total that begins anew makes no rate there, zeros are hidden") {
  const Run run = read({{"rank0.json", TraceText()
                                           .c("network/lo/kb_sent", 0, R"({"kb_sent": 80})")
                                           .c("network/lo/kb_sent", 1'000'000, R"({"kb_sent": 0})")
                                           .c("network/lo/kb_sent", 2'000'000, R"({"kb_sent": 8})")
                                           .c("network/lo/kb_recv", 0, R"({"kb_recv": 5})")
                                           .c("memory/swap", 0, R"({"used_gb": 0})")
                                           .array()}});
  const Report report = host_report(run, {});
  CHECK(rows_of(report, "rows").size() == 1);
  CHECK(value_in(report, "network/lo/sent", "mean") == doctest::Approx(64));
  CHECK(report.notes.at(2) == "1 counters are 0 all the time and are not shown (--all shows them)");
  CHECK(report.notes.at(3) == "1 counters of totals have one sample only: that makes no rate");
  CHECK(report.notes.at(4) == "1 times a total was less than before: no rate there");
  CHECK(rows_of(host_report(run, {.all = true}), "rows").size() == 2);
}

TEST_CASE("host: memory of CUDA was bytes in old files and is GB in new ones") {
  const auto used = [](const char* value) {
    return value_in(
        host_report(read({{"rank0.json", TraceText()
                                             .c("memory/cuda/allocated_mem", 0,
                                                fmt::format(R"({{"allocated_mem": {}}})", value))
                                             .array()}}),
                    {}),
        "memory/cuda/allocated_mem", "mean");
  };
  CHECK(used("1.5") == 1.5e9);
  CHECK(used("1500000000") == 1.5e9);
}

TEST_CASE("host: traces without counters say so") {
  const Report report =
      host_report(read({{"rank0.json", TraceText().c("text", 0, R"({"x": "y"})").array()}}), {});
  CHECK(rows_of(report, "rows").empty());
  CHECK(report.notes.at(0) ==
        "no counters in these traces: Composer's SystemProfiler and our recorder's sampler write "
        "them");
}
