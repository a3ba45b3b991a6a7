#include "select/step_marks.h"

#include "event/event_timing.h"
#include "scan/event_scanner.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace traceloom;

namespace {

// A file of several ranks, its pids.
FileRank merged_file() {
  FileRank file;
  file.source = RankSource::merged;
  return file;
}

// Returns "torch 3 of 1 at 10" for each mark, in nanoseconds. The first events belong to one part
// of the file, the others to another part.
std::string marks_of(const TraceText& trace, const FileRank& file = merged_file()) {
  const std::string text = trace.array().substr(2);
  StepMarks marks;
  StepMarks later;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  int count = 0;
  while (const Event* event = scanner.next()) {
    const EventTiming timing = time_event(*event, problems);
    (count++ < 3 ? marks : later).add(*event, timing.start_ns, timing.duration_ns);
  }
  marks.append(later);
  std::string found;
  for (const StepMark& mark : marks.list(file))
    found +=
        fmt::format("{} {} of {} at {}\n", mark.source == StepSource::torch ? "torch" : "composer",
                    mark.number, mark.rank, mark.begin_ns);
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
                     .x("ProfilerStep#", 2, 5)
                     .x("ProfilerStep#3a", 2, 5)
                     .i("ProfilerStep", 2)
                     .cat("")
                     .b("ProfilerStep#12", 6)
                     .e("ProfilerStep#12", 9)) == "torch 3 of 1 at 1000\ntorch 12 of 1 at 6000\n");
}

TEST_CASE("step_marks: a batch of Composer begins with its first event, whatever that is") {
  CHECK(marks_of(TraceText()
                     .b("dataloader/train", 1, kBatch3)
                     .b("event/batch", 2, kBatch3)
                     .e("event/batch", 3, kBatch4)
                     .i("x", 4, kBatch4)
                     .pid("2")
                     .b("event/batch", 5, kBatch4)) ==
        "composer 3 of 1 at 1000\ncomposer 4 of 1 at 4000\ncomposer 4 of 2 at 5000\n");
}

TEST_CASE("step_marks: merged spans of Composer go by the batch that is trained in them") {
  // In Composer 0.8 the loader's span surrounds the batch and ends with the next number.
  CHECK(marks_of(TraceText()
                     .x("event/train_batch", 20, 9, kBatch3)
                     .x("callback/event/batch_end", 31, 1, kBatch4)
                     .x("event/batch", 15, 20, kBatch4)
                     .x("dataloader/train", 10, 30, kBatch4)
                     .x("event/epoch", 5, 90, kBatch4)) ==
        "composer 3 of 1 at 5000\ncomposer 4 of 1 at 31000\n");
  // In later versions the loader's span is before the batch and names the batch that it loads.
  CHECK(marks_of(TraceText()
                     .x("event/dataloader", 10, 4, kBatch3)
                     .x("event/train_batch", 20, 9, kBatch3)
                     .x("event/batch", 15, 20, kBatch3)
                     .x("event/dataloader", 40, 4, kBatch4)) ==
        "composer 3 of 1 at 10000\ncomposer 4 of 1 at 40000\n");
}

TEST_CASE("step_marks: a merged span that was never closed goes by the args of its begin") {
  const TraceText trace =
      TraceText()
          .raw(
              R"({"name":"event/fit","ph":"X","ts":0,"dur":90,"pid":1,"tid":7,"args":{"epoch":0,"batch":0},"unclosed":true})")
          .x("event/train_batch", 20, 9, kBatch3);
  CHECK(marks_of(trace) == "composer 0 of 1 at 0\ncomposer 3 of 1 at 20000\n");
}

TEST_CASE("step_marks: a batch without an epoch is something else") {
  CHECK(marks_of(TraceText()
                     .x("decode", 1, 2, R"({"batch": 3})")
                     .x("decode", 1, 2, R"({"batch": 3, "epoch": "x"})")
                     .x("decode", 1, 2, R"({"batch": [3], "epoch": 1})")
                     .c("decode", 1, kBatch3)) == "");
}

TEST_CASE("step_marks: threads of one pid that are of several ranks have steps of their own") {
  FileRank file = merged_file();
  file.rank_of_thread[{"1", "8"}] = 2;
  const TraceText trace = TraceText()
                              .tid("7")
                              .x("event/batch", 10, 30, kBatch3)
                              .x("event/train_batch", 20, 9, kBatch3)
                              .tid("8")
                              .x("event/batch", 15, 30, kBatch4)
                              .x("event/train_batch", 21, 9, kBatch4)
                              .x("ProfilerStep#5", 2, 50);
  CHECK(marks_of(trace, file) ==
        "torch 5 of 2 at 2000\ncomposer 3 of 1 at 10000\ncomposer 4 of 2 at 15000\n");
}
