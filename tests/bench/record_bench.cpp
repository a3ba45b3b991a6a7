// Measures the cost of recording, next to the two clock reads that it needs at least.
//
//   record_bench --benchmark_filter=scope
//
// Times are of one thread's own clock a call; the smallest of the repetitions is what the code
// costs, the rest is the machine's other work.
#include "record/buffers/clock.h"
#include "record/files/json_sink.h"
#include "record/recorder.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>

namespace traceloom::record {
namespace {

std::string bench_folder() {
  return std::filesystem::temp_directory_path() / ("traceloom-bench-" + std::to_string(getpid()));
}

// The session writes nothing: the benchmark measures the recording thread, on a machine of few
// cores. The pool is small, because chunks that a writer gives back are in the cache.
std::unique_ptr<Session> quiet_session(ClockChoice clock) {
  Options options;
  options.write_json = false;
  options.clock = clock;
  options.when_full = WhenFull::ring;
  options.pool_bytes = options.max_pool_bytes = 4 * 65536;
  return std::make_unique<Session>(std::move(options));
}

std::unique_ptr<Session> session;

void open_tsc(const benchmark::State& /*state*/) {
  session = quiet_session(ClockChoice::automatic);
}
void open_monotonic(const benchmark::State& /*state*/) {
  session = quiet_session(ClockChoice::monotonic);
}
void close_session(const benchmark::State& /*state*/) {
  session.reset();
}

void two_clock_reads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(detail::now());
    benchmark::DoNotOptimize(detail::now());
  }
}

void scope(benchmark::State& state) {
  static const Marker marker("scope");
  for (auto _ : state) {
    const Scope scope(marker);
    benchmark::ClobberMemory();
  }
}

void scope_with_args(benchmark::State& state) {
  static const Marker marker("with args", "", "bytes,ratio,dtype");
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const ScopeWith scope(marker, ++bytes, 0.5, "bf16");
    benchmark::ClobberMemory();
  }
}

void start_and_finish(benchmark::State& state) {
  static const Marker marker("pair");
  for (auto _ : state) {
    marker.start();
    marker.finish();
  }
}

void instant(benchmark::State& state) {
  static const Marker marker("instant");
  for (auto _ : state) marker.instant();
}

void counter(benchmark::State& state) {
  static const Counter counter("counter", "", {"value"});
  for (auto _ : state) counter.record(1);
}

BENCHMARK(two_clock_reads)->Name("two clock reads/tsc")->Setup(open_tsc)->Teardown(close_session);
BENCHMARK(scope)->Name("scope/tsc")->Setup(open_tsc)->Teardown(close_session)->ThreadRange(1, 2);
BENCHMARK(scope_with_args)->Name("scope with 3 args/tsc")->Setup(open_tsc)->Teardown(close_session);
BENCHMARK(start_and_finish)->Name("start and finish/tsc")->Setup(open_tsc)->Teardown(close_session);
BENCHMARK(instant)->Name("instant/tsc")->Setup(open_tsc)->Teardown(close_session);
BENCHMARK(counter)->Name("counter/tsc")->Setup(open_tsc)->Teardown(close_session);
BENCHMARK(two_clock_reads)
    ->Name("two clock reads/monotonic")
    ->Setup(open_monotonic)
    ->Teardown(close_session);
BENCHMARK(scope)->Name("scope/monotonic")->Setup(open_monotonic)->Teardown(close_session);
BENCHMARK(scope)->Name("scope/off");
BENCHMARK(start_and_finish)->Name("start and finish/off");

// Text a second of one core, without a disk. Argument 1: compressed.
void serialize(benchmark::State& state) {
  const std::string folder = bench_folder();
  std::filesystem::create_directories(folder);
  const std::string path = folder + (state.range(0) != 0 ? "/rank0.json.gz" : "/rank0.json");
  std::uint64_t bytes = 0;
  std::int64_t events = 0;
  for (auto _ : state) {
    JsonSink sink({1, true});
    sink.begin_cycle({sizeof(CycleInfo), 0, 0, path.c_str()});
    DurationEvent event{};
    event.label = 1;
    event.name = "aten::convolution_backward";
    event.categories = "cpu_op";
    event.tid = 4711;
    event.begin_ns = 1'722'000'038'297'200'183;
    event.epoch = 3;
    event.args_json = "";
    for (int i = 0; i < 200'000; ++i) {
      event.begin_ns += 7'391 + i % 977;
      event.duration_ns = 1'234 + (i * 7919) % 100'003;
      event.batch = static_cast<std::uint32_t>(i / 5000);
      sink.duration(event);
      if (sink.wants_flush()) sink.flush();
    }
    sink.flush();
    bytes += sink.state().text_bytes;
    events += 200'000;
    state.PauseTiming();
    sink.end_cycle({sizeof(CycleInfo), 0, 0, path.c_str()});
    std::filesystem::remove(path);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(events);
  std::filesystem::remove_all(folder);
}
BENCHMARK(serialize)->Name("serialize/json")->Arg(0);
BENCHMARK(serialize)->Name("serialize/json.gz")->Arg(1);

// Offers scopes at a steady rate (argument: millions a second) into files, and counts how many of
// them are dropped.
void offered(benchmark::State& state) {
  std::uint64_t dropped = 0;
  double peak = 0;
  for (auto _ : state) {
    Options options;
    options.folder = bench_folder();
    options.overwrite = true;
    Session files(options);
    static const Marker marker("offered");
    constexpr int kBurst = 100;
    const auto burst = std::chrono::nanoseconds(kBurst * 1000 / state.range(0));
    auto next = std::chrono::steady_clock::now();
    const auto end = next + std::chrono::seconds(1);
    for (; next < end; next += burst) {
      for (int i = 0; i < kBurst; ++i) const Scope scope(marker);
      while (std::chrono::steady_clock::now() < next) {
      }
    }
    files.close();
    dropped += files.status().dropped;
    peak = static_cast<double>(files.status().peak_pool_bytes);
    state.PauseTiming();
    std::filesystem::remove_all(options.folder);
    state.ResumeTiming();
  }
  state.counters["dropped"] = static_cast<double>(dropped);
  state.counters["pool"] = peak;
}
BENCHMARK(offered)->Name("offered, M scopes/s")->Arg(2)->Arg(5)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace traceloom::record

BENCHMARK_MAIN();
