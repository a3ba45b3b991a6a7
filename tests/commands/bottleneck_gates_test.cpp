// The conditions that `trace-stats bottleneck --fail-on` takes.
#include "base/problems.h"
#include "commands/command_runs.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("bottleneck gates: gain:LIMIT=N% is about what would be saved") {
  // A step of 100 us: kernels of two names take 30 each, and a fill 40.
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100);
  trace.cat("kernel").x("gemm", 0, 30).x("relu", 30, 30);
  trace.cat("gpu_memset").x("Memset (Device)", 60, 40);
  const Run run = read_texts(
      {{"rank0.json", trace.object(R"("distributedInfo": {"rank": 0, "world_size": 1})")}});
  const auto fails = [&](const std::string& gate) {
    return analysis_of("bottleneck --fail-on " + gate)->answer(run).is_no;
  };
  CHECK(fails("compute=50%"));
  CHECK_FALSE(fails("gain:compute=30%"));
  CHECK(fails("gain:compute=29%"));
  CHECK(fails("gain:compute>29%"));
  CHECK(fails("gain:compute=50%,gain:memory=39%"));
  CHECK_THROWS_WITH_AS(fails("gain:memory"),
                       "--fail-on: 'gain:memory' needs a share (try gain:memory=5%)", UsageError);
  CHECK_THROWS_WITH_AS(fails("gain:inconclusive=5%"),
                       "--fail-on: 'gain:inconclusive=5%': inconclusive is a verdict and has no "
                       "share",
                       UsageError);
}
