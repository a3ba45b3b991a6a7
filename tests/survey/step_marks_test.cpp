#include "survey/step_marks.h"

#include "scan/event_scanner.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace traceloom;

namespace {

// "torch 3 of 1 at 100" of each mark. The times of the events are taken from 0 on, ten by ten.
std::string marks_of(const TraceText& trace) {
  const std::string text = trace.array().substr(2);
  StepMarks marks;
  StepMarks later;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  std::int64_t ns = 0;
  while (const Event* event = scanner.next()) {
    (ns < 30 ? marks : later).add(*event, ns);
    ns += 10;
  }
  marks.append(later);
  std::string found;
  for (const StepMark& mark : marks.list())
    found +=
        fmt::format("{} {} of {} at {}\n", mark.source == StepSource::torch ? "torch" : "composer",
                    mark.number, mark.pid, mark.begin_ns);
  return found;
}

constexpr std::string_view kBatch3 = R"({"epoch": 0, "batch": 3})";
constexpr std::string_view kBatch4 = R"({"epoch": 0, "batch": 4})";

}  // namespace

TEST_CASE("step_marks: ProfilerStep#N on the host begins a step, its copy on the GPU does not") {
  CHECK(marks_of(TraceText()
                     .cat("gpu_user_annotation")
                     .x("ProfilerStep#3", 0, 5)
                     .cat("user_annotation")
                     .x("ProfilerStep#3", 1, 5)
                     .x("ProfilerStep#", 1, 5)
                     .x("ProfilerStep#3a", 1, 5)
                     .i("ProfilerStep", 1)
                     .cat("")
                     .b("ProfilerStep#12", 6)
                     .e("ProfilerStep#12", 9)) == "torch 3 of 1 at 10\ntorch 12 of 1 at 50\n");
}

TEST_CASE("step_marks: a batch of Composer begins with its first event, whatever that is") {
  CHECK(marks_of(TraceText()
                     .b("dataloader/train", 1, kBatch3)
                     .b("event/batch", 1, kBatch3)
                     .e("event/batch", 1, kBatch4)
                     .i("x", 1, kBatch4)
                     .pid("2")
                     .b("event/batch", 1, kBatch4)) ==
        "composer 3 of 1 at 0\ncomposer 4 of 1 at 30\ncomposer 4 of 2 at 40\n");
}

TEST_CASE("step_marks: of merged spans of Composer the args are those of the end") {
  CHECK(marks_of(TraceText()
                     .x("event/epoch", 1, 9, kBatch4)
                     .x("dataloader/train", 1, 9, kBatch4)
                     .x("event/batch", 1, 9, kBatch4)
                     .x("event/forward", 1, 9, kBatch3)
                     .x("event/forward", 1, 9, kBatch4)) ==
        "composer 3 of 1 at 20\ncomposer 4 of 1 at 40\n");
}

TEST_CASE("step_marks: a batch without an epoch is something else") {
  CHECK(marks_of(TraceText()
                     .x("decode", 1, 2, R"({"batch": 3})")
                     .x("decode", 1, 2, R"({"batch": 3, "epoch": "x"})")
                     .x("decode", 1, 2, R"({"batch": [3], "epoch": 1})")
                     .c("decode", 1, kBatch3)) == "");
}
