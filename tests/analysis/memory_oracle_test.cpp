// Compares memory and host with their slow twins, over generated traces.
#include "analysis/memory/device_memory.h"
#include "analysis/reports/reports.h"
#include "oracle/memory.h"
#include "support/merge_texts.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <random>

using namespace traceloom;

namespace {

class RandomJob {
 public:
  explicit RandomJob(std::uint32_t seed) : random_(seed) {}

  int number(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

  // Operators that nest on two threads, and allocations and frees of two devices.
  TraceText memory() {
    TraceText trace;
    trace.cat("cpu_op");
    for (const char* tid : {"1", "2"}) {
      trace.tid(tid);
      add_operators(trace, 0, 200, 0);
    }
    trace.cat("cpu_instant_event");
    for (int at = number(0, 3); at < 220; at += number(0, 4)) add_allocation(trace, at);
    return trace;
  }

  // Steps with waits, and a counter of each kind.
  TraceText counters() {
    TraceText trace;
    for (int step = 0; step < number(0, 3); ++step) {
      trace.x("ProfilerStep#" + std::to_string(step), step * 100, 100);
      trace.x("enumerate(DataLoader)#It.__next__", step * 100 + number(0, 30), number(0, 60));
    }
    int total = 1000;
    for (int at = number(0, 20); at < 320; at += number(1, 60)) {
      trace.c("queue", at, fmt::format(R"({{"value": {}}})", number(1, 9)));
      trace.c("cpu", at, fmt::format(R"({{"cpu_percent": {}.5}})", number(0, 99)));
      total = number(0, 9) == 0 ? 0 : total + number(0, 50);
      trace.c("disk/sda/read_count", at, fmt::format(R"({{"field_name": {}}})", total));
    }
    return trace;
  }

 private:
  void add_operators(TraceText& trace, int from, int to, int depth) {
    while (depth < 3 && to - from > 2) {
      const int start = number(from, to - 2);
      const int end = number(start + 1, to);
      // Names differ from level to level: the only child of its own name is the same operator.
      trace.x(fmt::format("op{}.{}", depth, number(0, 2)), start, end - start);
      add_operators(trace, start, end, depth + 1);
      from = end;
    }
  }

  void add_allocation(TraceText& trace, int at) {
    const auto device = static_cast<std::size_t>(number(0, 1));
    std::vector<std::pair<int, int>>& held = held_[device];
    int address = number(1, 1'000'000);
    int bytes = number(1, 1000);
    if (!held.empty() && number(0, 1) == 0) {
      const auto place = held.begin() + number(0, static_cast<int>(held.size()) - 1);
      address = place->first;
      bytes = -place->second;
      held.erase(place);
    } else {
      held.emplace_back(address, bytes);
    }
    totals_[device] += bytes;
    trace.tid(number(0, 1) == 0 ? "1" : "2")
        .i("[memory]", at,
           fmt::format(R"({{"Device Type": 1, "Device Id": {}, "Bytes": {}, "Addr": {},)"
                       R"( "Total Allocated": {}}})",
                       device, bytes, address, totals_[device]));
  }

  std::mt19937 random_;
  std::array<std::vector<std::pair<int, int>>, 2> held_;
  std::array<int, 2> totals_{5000, 0};
};

Run read_samples(const NamedTexts& files, unsigned threads = 1) {
  return read_texts(files, {.details = true, .samples = true, .threads = threads});
}

// A rank's file, with a clock so that ranks can be merged.
std::string rank_file(TraceText trace, int rank) {
  trace.composer_rank(rank, std::to_string(1'000'000 + rank * 137));
  return trace.array();
}

std::string memory_text(const Run& run) {
  Report report = memory_report(run, {}, {.by_rank = true, .operators = 0, .curve = 7});
  report.files.clear();
  return render_report(report, TableFormat::json, {});
}
std::string host_text(const Run& run) {
  Report report = host_report(run, {.by_rank = true});
  report.files.clear();
  return render_report(report, TableFormat::json, {});
}

double value_or_none(const Cell& cell) {
  return std::holds_alternative<double>(cell) ? std::get<double>(cell) : -1;
}

// Checks that `answer` gives the same text for all ways to present the same events.
void check_ways(const std::function<TraceText(RandomJob&)>& make,
                const std::function<std::string(const Run&)>& answer) {
  for (std::uint32_t seed = 0; seed < tries(40); ++seed) {
    CAPTURE(seed);
    RandomJob first(seed);
    RandomJob second(seed + 1000);
    const std::string rank0 = rank_file(make(first), 0);
    const std::string rank1 = rank_file(make(second), 1);
    const std::string expected = answer(read_samples({{"a.json", rank0}, {"b.json", rank1}}));
    CHECK(answer(read_samples({{"b.json", rank1}, {"a.json", rank0}}, 3)) == expected);
    const std::string merged = merge_texts({{"a.json", rank0}, {"b.json", rank1}});
    CHECK(answer(read_samples({{"merged.json", merged}})) == expected);
  }
}

}  // namespace

TEST_CASE("memory: is that of the slow twin, for random operators and allocations") {
  for (std::uint32_t seed = 0; seed < tries(200); ++seed) {
    CAPTURE(seed);
    const std::string text = RandomJob(seed).memory().array();
    const Run run = read_samples({{"rank0.json", text}}, 1 + seed % 3);
    const auto expected = oracle::find_memory(text);
    const std::vector<DeviceMemory> devices = find_device_memory(run);
    REQUIRE(devices.size() == expected.size());
    for (const DeviceMemory& device : devices) {
      const oracle::DeviceBytes& twin = expected.at(device.device);
      CHECK(device.curve.front().allocated == twin.start);
      CHECK(device.peak().allocated == twin.peak);
      CHECK(device.curve.back().allocated == twin.end);
      REQUIRE(device.operators.size() == twin.operators.size());
      for (const auto& [name, bytes] : twin.operators) {
        CAPTURE(name);
        const OperatorMemory& found = device.operators.at(name);
        CHECK(oracle::OperatorBytes{found.self_increase, found.self_alloc, found.self_count,
                                    found.increase, found.alloc, found.count, found.at_peak,
                                    found.unfreed} == bytes);
      }
    }
  }
}

TEST_CASE("host: is that of the slow twin, for random counters and waits") {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < tries(200); ++seed) {
    CAPTURE(seed);
    const std::string text = RandomJob(seed).counters().array();
    const Report report =
        host_report(read_samples({{"rank0.json", text}}, 1 + seed % 3), {.all = true});
    for (const ReportRow& row : rows_of(report, "rows")) {
      const std::string counter = text_in(row, "counter");
      CAPTURE(counter);
      const oracle::CounterKind kind = counter == "queue" ? oracle::CounterKind::level
                                       : counter == "cpu" ? oracle::CounterKind::load
                                                          : oracle::CounterKind::total;
      const double factor = counter == "cpu" ? 0.01 : 1;
      const oracle::CounterNumbers twin = oracle::find_counter(text, counter, kind);
      const auto same = [&](const char* column, double expected) {
        const double found = value_or_none(cell_in(row, column));
        CHECK(found == doctest::Approx(expected == -1 ? -1 : expected * factor));
      };
      CHECK(number_in(row, "samples") == static_cast<std::int64_t>(twin.samples));
      same("mean", twin.mean);
      same("p50", twin.p50);
      same("p99", twin.p99);
      same("during", twin.during);
      same("elsewhere", twin.elsewhere);
      ++compared;
    }
  }
  CHECK(compared > tries(500));
}

TEST_CASE("memory: no order of files, number of threads or merge changes it") {
  check_ways([](RandomJob& job) { return job.memory(); }, memory_text);
}

TEST_CASE("host: no order of files, number of threads or merge changes it") {
  check_ways([](RandomJob& job) { return job.counters(); }, host_text);
}
