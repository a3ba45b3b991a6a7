// Measures the cost of recording through the C interface of the shared library.
#include <benchmark/benchmark.h>
#include <traceloom.h>

namespace {

traceloom_session* session = nullptr;

void open_session(const benchmark::State& /*state*/) {
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = "/tmp/traceloom-bench-c";
  options.overwrite = 1;
  options.when_full = TRACELOOM_RING;
  options.pool_bytes = options.max_pool_bytes = 4 * 65536;
  session = traceloom_open(&options);
}
void close_session(const benchmark::State& /*state*/) {
  traceloom_close(session);
}

void scope(benchmark::State& state) {
  static traceloom_marker* const kMarker = traceloom_marker_new("scope", "", 0, 0);
  for (auto _ : state) traceloom_end(kMarker, traceloom_begin(kMarker));
}
BENCHMARK(scope)
    ->Name("C: begin and end/on")
    ->Setup(open_session)
    ->Teardown(close_session)
    ->ThreadRange(1, 2);
BENCHMARK(scope)->Name("C: begin and end/off");

}  // namespace

BENCHMARK_MAIN();
