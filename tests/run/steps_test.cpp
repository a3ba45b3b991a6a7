#include "run/steps.h"

#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

StepList steps_of(const std::string& text) {
  return read_texts({{"rank0.json", text}}).ranks.at(0).steps;
}

// ProfilerStep#1 and #2, each 100 us, with a launch and a kernel each.
TraceText two_steps() {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100).x("ProfilerStep#2", 100, 100);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 50, 5, R"({"correlation": 1})");
  trace.x("cudaLaunchKernel", 150, 5, R"({"correlation": 2})");
  return trace;
}

std::string kernel(int correlation) {
  return R"({"device": 0, "stream": 7, "correlation": )" + std::to_string(correlation) + "}";
}

}  // namespace

TEST_CASE("steps: without device work a step is its host range") {
  const StepList steps = steps_of(two_steps().array());
  CHECK(steps.kind == StepKind::torch);
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).number == 1);
  CHECK(steps.list.at(0).time == Interval{0, 100'000});
  CHECK(steps.list.at(1).time == Interval{100'000, 200'000});
  CHECK(steps.dropped == 0);
}

TEST_CASE("steps: a step lasts until what it launched is done, and the next begins there") {
  const StepList steps = steps_of(
      two_steps().cat("kernel").x("k", 80, 50, kernel(1)).x("k", 190, 40, kernel(2)).array());
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).time == Interval{0, 130'000});
  CHECK(steps.list.at(0).host == Interval{0, 100'000});
  CHECK(steps.list.at(1).time == Interval{130'000, 230'000});
  CHECK(steps.list.at(1).device_ops == 1);
}

TEST_CASE("steps: two runs of a rank, of which each counts its launches from 1, keep their work") {
  const auto run = [](int first, int at) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#" + std::to_string(first), at, 100);
    trace.cat("cuda_runtime").x("cudaLaunchKernel", at + 50, 5, R"({"correlation": 1})");
    return trace.cat("kernel").x("k", at + 80, 50, kernel(1)).array();
  };
  const StepList steps =
      read_texts({{"rank0-a.json", run(1, 0)}, {"rank0-b.json", run(500, 1'000'000)}})
          .ranks.at(0)
          .steps;
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).time == Interval{0, 130'000});
  CHECK(steps.list.at(1).time == Interval{1'000'000'000, 1'000'130'000});
  CHECK(steps.list.at(1).counted);
}

TEST_CASE("steps: the first step begins behind device work of steps that were not recorded") {
  const StepList steps = steps_of(
      two_steps().cat("kernel").x("k", -5, 35, kernel(99)).x("k", 80, 5, kernel(1)).array());
  CHECK(steps.list.at(0).time.from_ns == 35'000);  // time 0 is that of the first event
}

TEST_CASE("steps: the tail does not count when the profiler lost device work") {
  TraceText trace = two_steps();
  trace.cat("kernel");
  for (int i = 0; i < 10; ++i) trace.x("k", 60 + i, 1, kernel(1));
  for (int i = 0; i < 7; ++i) trace.x("k", 160 + i, 1, kernel(2));
  CHECK(steps_of(trace.array()).dropped == 1);
  CHECK_FALSE(steps_of(trace.array()).list.at(1).counted);
  trace.x("k", 170, 1, kernel(2));
  CHECK(steps_of(trace.array()).dropped == 0);
}

TEST_CASE("steps: copies of steps on device rows are none") {
  CHECK(steps_of(two_steps().cat("gpu_user_annotation").x("ProfilerStep#1", 30, 100).array())
            .list.size() == 2);
}

TEST_CASE("steps: of Composer a step is the wait for its data and its batch") {
  const StepList steps = steps_of(TraceText()
                                      .b("dataloader/train", 0, R"({"epoch": 1, "batch": 4})")
                                      .e("dataloader/train", 20, R"({"epoch": 1, "batch": 4})")
                                      .b("event/batch", 25, R"({"epoch": 1, "batch": 4})")
                                      .e("event/batch", 90, R"({"epoch": 1, "batch": 5})")
                                      .b("dataloader/train", 100, R"({"epoch": 1, "batch": 5})")
                                      .e("dataloader/train", 140, R"({"epoch": 1, "batch": 5})")
                                      .array());
  CHECK(steps.kind == StepKind::composer);
  REQUIRE(steps.list.size() == 1);
  CHECK(steps.list.at(0).number == 4);
  CHECK(steps.list.at(0).epoch == 1);
  CHECK(steps.list.at(0).time == Interval{0, 90'000});
  CHECK(steps.probes == Intervals{{100'000, 140'000}});
}

TEST_CASE("steps: a merged batch has the number of the train_batch in it") {
  const StepList steps = steps_of(TraceText()
                                      .x("event/batch", 25, 65, R"({"epoch": 1, "batch": 5})")
                                      .x("event/train_batch", 26, 60, R"({"epoch": 1, "batch": 4})")
                                      .array());
  REQUIRE(steps.list.size() == 1);
  CHECK(steps.list.at(0).number == 4);
}

TEST_CASE("steps: where none are marked all of it is one") {
  const StepList steps =
      steps_of(TraceText().cat("cpu_op").x("aten::mm", 100, 60).x("aten::add", 300, 70).array());
  CHECK(steps.kind == StepKind::none);
  REQUIRE(steps.list.size() == 1);
  CHECK(steps.list.at(0).time == Interval{0, 270'000});
  CHECK(steps_of(TraceText().c("memory", 1, R"({"rss": 1})").array()).list.empty());
}

TEST_CASE("steps: an unmarked step lasts from the first to the last event, whosever it is") {
  TraceText trace;
  trace.cat("cpu_op").x("aten::zero_", 10, 50);
  trace.cat("cuda_runtime").x("cudaGraphLaunch", 100, 8, R"({"correlation": 2})");
  trace.cat("kernel").x("k", -20, 5, kernel(99)).x("k", 120, 4990, kernel(2));
  const StepList steps = steps_of(trace.array());
  REQUIRE(steps.list.size() == 1);
  CHECK(steps.list.at(0).time == Interval{0, 5'130'000});
  CHECK(steps.list.at(0).host == steps.list.at(0).time);
  const StepList calls =
      steps_of(TraceText().cat("cuda_runtime").x("cudaFree", 5, 30).x("cudaFree", 50, 10).array());
  CHECK(calls.list.at(0).time == Interval{0, 55'000});
}

TEST_CASE("steps: the profiler's own time is marked and makes no step longer") {
  TraceText trace;
  trace.cat("cpu_op").x("aten::mm", 100, 60);
  trace.tid("0").cat("overhead").x("Activity Buffer Request", 110, 500);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(run.ranks.at(0).steps.list.at(0).time == Interval{0, 60'000});
  std::vector<Interval> overhead;
  run.ranks.at(0).for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::overhead) overhead.push_back(span.interval());
  });
  CHECK(overhead == std::vector<Interval>{{10'000, 510'000}});
  CHECK(read_texts({{"rank0.json", TraceText().cat("overhead").x("Flush", 5, 9).array()}})
            .ranks.at(0)
            .steps.list.empty());
}

TEST_CASE("steps: of a merged file between whose cycles the clock was set back") {
  constexpr std::int64_t kSyncUs = 1'795'000'000'000'000;
  constexpr std::int64_t kSecondUs = 1'000'000;
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const auto cycle = [](int rank, int number, std::int64_t sync_us) {
    return TraceText()
        .pid(std::to_string(rank))
        .composer_rank(rank, std::to_string(sync_us))
        .cat("user_annotation")
        .x("ProfilerStep#" + std::to_string(number), sync_us, 40 * kSecondUs);
  };
  // The second cycle of rank 1 was 100 s after the first, and its clock says 30 s before; the step
  // in it lasts until the first has begun on that clock.
  const std::string node =
      cycle(1, 1, kSyncUs)
          .x("ProfilerStep#2", kSyncUs - 30 * kSecondUs, 40 * kSecondUs)
          .object(R"("otherData":{"traceloom":{"version":"1","cycles":[)"
                  R"({"cycle":"ep0-ba5","sync_us":1794999970000000,)"
                  R"("first_ns":1794999970000000000,"last_ns":1794999970000000000},)"
                  R"({"cycle":"ep0-ba4","sync_us":1795000000000000,)"
                  R"("first_ns":1795000000000000000,"last_ns":1795000000000000000}]}})");
  const Run run =
      read_texts({{"ep0-ba4-rank0.json", cycle(0, 1, kSyncUs).array()},
                  {"ep0-ba5-rank0.json", cycle(0, 2, kSyncUs + 100 * kSecondUs).array()},
                  {"node.json", node}});
  REQUIRE(run.ranks.size() == 2);
  for (const RankEvents& rank : run.ranks) {
    REQUIRE(rank.steps.list.size() == 2);
    CHECK(rank.steps.list.at(0).time == Interval{0, 40 * kSecondNs});
    CHECK(rank.steps.list.at(1).time == Interval{100 * kSecondNs, 140 * kSecondNs});
  }
}

TEST_CASE("steps: a number that comes again begins another run, with a tail of its own") {
  // The last step of each run has lost its device work.
  const auto run = [](int at) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      trace.cat("user_annotation")
          .x("ProfilerStep#" + std::to_string(step + 5), at + 100 * step, 100);
      if (step == 2) break;
      trace.cat("cuda_runtime")
          .x("cudaLaunchKernel", at + 100 * step + 10, 5,
             R"({"correlation": )" + std::to_string(step + 1) + "}");
      trace.cat("kernel").x("k", at + 100 * step + 50, 20, kernel(step + 1));
    }
    return trace.array();
  };
  const RankEvents rank =
      read_texts({{"rank0-a.json", run(0)}, {"rank0-b.json", run(1'000'000)}}).ranks.at(0);
  std::vector<std::uint32_t> runs;
  std::vector<bool> counted;
  for (const Step& step : rank.steps.list) {
    runs.push_back(step.run);
    counted.push_back(step.counted);
  }
  CHECK(runs == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1});
  CHECK(counted == std::vector<bool>{true, true, false, true, true, false});
  CHECK(rank.steps.dropped == 2);
  CHECK(rank.unrecorded == Intervals{{300'000, 1'000'000'000}});
}

TEST_CASE("steps: in one file what is between steps whose numbers do not go on was not recorded") {
  const auto trace = [](const char* second) {
    return TraceText()
        .cat("user_annotation")
        .x("ProfilerStep#5", 0, 100)
        .x(second, 1000, 100)
        .cat("cpu_op")
        .x("aten::mm", 90, 60)
        .x("aten::mm", 970, 40)
        .array();
  };
  const auto unrecorded = [&](const char* second) {
    return read_texts({{"rank0.json", trace(second)}}).ranks.at(0).unrecorded;
  };
  CHECK(unrecorded("ProfilerStep#5") == Intervals{{150'000, 970'000}});
  CHECK(unrecorded("ProfilerStep#20") == Intervals{{150'000, 970'000}});
  CHECK(unrecorded("ProfilerStep#6").empty());
}

TEST_CASE("steps: iterations of an engine have a phase, and the numbers of their order") {
  TraceText trace;
  trace.cat("user_annotation")
      .x("step[EXTEND bs=2 toks=64]", 0, 100)
      .x("step[DECODE bs=2]", 100, 50);
  trace.x("step[IDLE bs=0]", 150, 50).x("step[DECODE bs=2]", 200, 50);
  const StepList steps = steps_of(trace.array());
  CHECK(steps.kind == StepKind::iterations);
  REQUIRE(steps.list.size() == 3);
  CHECK(steps.list.at(0).phase == StepPhase::prefill);
  CHECK(steps.list.at(1).phase == StepPhase::decode);
  CHECK(steps.list.at(2).phase == StepPhase::decode);
  CHECK(steps.list.at(2).number == 2);
  CHECK(steps.list.at(2).time == Interval{200'000, 250'000});
  CHECK(steps.rest == 1);
}

TEST_CASE("steps: an iteration that two parts of an engine mark is one") {
  TraceText trace;
  trace.cat("user_annotation").x("execute_8_context_0(a)_generation_8(b)", 0, 100);
  trace.x("step[DECODE bs=8]", 5, 90).x("step[DECODE bs=8]", 100, 90);
  const StepList steps = steps_of(trace.array());
  REQUIRE(steps.list.size() == 2);
  CHECK(steps.list.at(0).host == Interval{0, 100'000});
}

TEST_CASE("steps: iterations count before steps that a profiler marks around them") {
  TraceText trace = two_steps();
  trace.cat("user_annotation").x("step[DECODE bs=8]", 10, 20).x("step[DECODE bs=8]", 40, 20);
  CHECK(steps_of(trace.array()).kind == StepKind::iterations);
}

TEST_CASE("steps: the last decode is compared with the decode before it, not with a prefill") {
  TraceText trace;
  trace.cat("user_annotation")
      .x("step[DECODE bs=2]", 0, 100)
      .x("step[EXTEND bs=2 toks=9]", 100, 100);
  trace.x("step[DECODE bs=2]", 200, 100);
  trace.cat("cuda_runtime");
  for (int i = 0; i < 3; ++i)
    trace.x("cudaLaunchKernel", 100 * i + 5, 5, R"({"correlation": )" + std::to_string(i) + "}");
  trace.cat("kernel").x("k", 10, 5, kernel(0)).x("k", 210, 5, kernel(2));
  for (int i = 0; i < 9; ++i) trace.x("k", 110 + i, 1, kernel(1));
  CHECK(steps_of(trace.array()).dropped == 0);
}
