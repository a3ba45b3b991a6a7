#include "analysis/reports/reports.h"
#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

std::string value_of(const Report& report, std::string_view key) {
  for (const auto& [name, json] : report.values)
    if (name == key) return json;
  return "";
}

}  // namespace

TEST_CASE("dataloader: XLA's classes begin at 5 and at 20 percent") {
  const auto class_of = [](int wait_us) {
    TraceText step = TraceText()
                         .cat("user_annotation")
                         .x("ProfilerStep#1", 0, 1000)
                         .x("enumerate(DataLoader)#It.__next__", 0, wait_us);
    return text_in(
        rows_of(dataloader_report(read_texts({{"rank0.json", step.array()}})), "rows").at(0),
        "class");
  };
  CHECK(class_of(49) == "not input-bound");
  CHECK(class_of(50) == "moderately input-bound");
  CHECK(class_of(199) == "moderately input-bound");
  CHECK(class_of(200) == "highly input-bound");
}

TEST_CASE("dataloader: waits are those of the steps, the first one by itself") {
  JobTraces job{.ranks = 1, .steps = 3};
  job.loader_us[0] = 50;  // a step takes 100
  const Report report = dataloader_report(read_texts(job.torch()));
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(number_in(row, "steps") == 3);
  CHECK(number_in(row, "wait_ns") == 150'000);
  CHECK(share_in(row, "share") == 0.5);
  CHECK(share_in(row, "exposed_share") == 0.5);
  CHECK(number_in(row, "first_ns") == 50'000);
  CHECK(number_in(row, "p99_ns") == 50'000);
  CHECK(std::get<bool>(cell_in(row, "instrumented")));
  CHECK(text_in(row, "composer_rule") == "unknown");
  CHECK(value_of(report, "job") == R"({"share":0.5,"rank":0,"instrumented":true})");
  const ReportRow iterator = rows_of(report, "iterators").at(0);
  CHECK(text_in(iterator, "name") == "enumerate(DataLoader)#It.__next__");
  CHECK(number_in(iterator, "count") == 3);
}

TEST_CASE("dataloader: no loader in a trace is not a wait of 0") {
  const Report report = dataloader_report(
      read_texts({{"rank0.json", TraceText().cat("cpu_op").x("aten::mm", 0, 10).array()}}));
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK_FALSE(std::get<bool>(cell_in(row, "instrumented")));
  CHECK(std::holds_alternative<std::monostate>(cell_in(row, "wait_ns")));
  CHECK(std::holds_alternative<std::monostate>(cell_in(row, "share")));
  CHECK(
      value_of(report, "classes") ==
      R"({"xla":"not instrumented","tb_plugin":"not instrumented","composer":"not instrumented"})");
}

TEST_CASE("dataloader: what each tool would say is printed, and what of it is the first wait") {
  JobTraces job{.ranks = 1, .steps = 10};
  job.loader_us[0] = 50;  // a step takes 100
  CHECK(dataloader_report(read_texts(job.torch())).headline ==
        std::vector<std::string>{
            "Input wait: 50.0 % of the mean step is exposed → highly input-bound.",
            "XLA (5, 20 %): highly input-bound; tb_plugin (5 %): input-bound; Composer: no "
            "bottleneck."});
  TraceText slow_start;
  for (int step = 0; step < 4; ++step)
    slow_start.cat("user_annotation")
        .x(fmt::format("ProfilerStep#{}", step), 100 * step, 100)
        .x("enumerate(DataLoader)#It.__next__", 100 * step, step == 0 ? 80 : 4);
  CHECK(dataloader_report(read_texts({{"rank0.json", slow_start.array()}})).headline.at(0) ==
        "Input wait: 23.0 % of the mean step is exposed → highly input-bound; 87 % of that is the "
        "first wait.");
}

TEST_CASE("dataloader: a lone batch without a marked step has no class, as it has no verdict") {
  const auto waits = [](int count, int every_us) {
    TraceText text;
    text.cat("cpu_op").x("aten::mm", 0, 100);
    text.cat("user_annotation");
    for (int i = 0; i < count; ++i)
      text.x("enumerate(DataLoader)#It.__next__", 100 + every_us * i, 40);
    return dataloader_report(read_texts({{"rank0.json", text.array()}}));
  };
  const Report lone = waits(1, 0);
  CHECK(lone.headline ==
        std::vector<std::string>{
            "Input wait: 40.000 us for a single batch, from which no share of a step follows."});
  CHECK(value_of(lone, "classes") ==
        R"({"xla":"unknown: a single batch","tb_plugin":)"
        R"("unknown: a single batch","composer":"unknown: a single batch"})");
  CHECK(waits(2, 50).headline.at(0) ==
        "Input wait: 42.1 % of the mean step is exposed → highly input-bound.");
  // Waits that touch are two.
  CHECK(waits(2, 40).headline.at(0) ==
        "Input wait: 44.4 % of the mean step is exposed → highly input-bound.");
}

TEST_CASE("dataloader: what is the same of several ranks is noted once") {
  JobTraces job;
  JobTraces::Files files = job.composer();
  for (const int rank : {0, 1, 3})
    files[static_cast<std::size_t>(rank)].second =
        TraceText().composer_rank(rank, "1000").x("event/batch", 0, 10).array();
  CHECK(dataloader_report(read_texts(files)).notes.at(0) ==
        "ranks 0-1,3: not instrumented, which is not a wait of 0");
}

TEST_CASE("dataloader: a job waits for the slowest loader, of whichever rank it is") {
  JobTraces job;
  job.loader_us[3] = 60;  // 60 of 110, where the mean over ranks is 17 %
  for (const JobTraces::Files& files : {job.torch(), job.composer()}) {
    const Report report = dataloader_report(read_texts(files));
    CHECK(value_of(report, "job") ==
          R"({"share":0.5454545454545454,"rank":3,"instrumented":true})");
  }
}

TEST_CASE("dataloader: a wait behind which others are waited for limits nobody") {
  JobTraces job;
  job.work_us[0] = 100;  // rank 0 is late
  job.loader_us[1] = 30;
  const Report report = dataloader_report(read_texts(job.torch()));
  // Rank 0's own 5 of 115.
  CHECK(value_of(report, "job") ==
        R"({"share":0.043478260869565216,"rank":null,"instrumented":true})");
}

TEST_CASE("dataloader: the wait of Composer 0.8 ends with the first callback that has the data") {
  const Report report = dataloader_report(
      read_texts({{"rank0.json", TraceText()
                                     .b("dataloader/train", 0, R"({"epoch": 0, "batch": 1})")
                                     .b("callback/Logger/event/after_dataloader", 30)
                                     .e("callback/Logger/event/after_dataloader", 35)
                                     .b("event/batch", 40, R"({"epoch": 0, "batch": 1})")
                                     .e("event/batch", 110)
                                     .e("dataloader/train", 111)
                                     .array()}}));
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(number_in(row, "wait_ns") == 30'000);
  CHECK(share_in(row, "share") == 0.3);
}

TEST_CASE("dataloader: Composer's rule needs ten steps, 1 percent and a millisecond") {
  LoaderRow row;
  row.instrumented = true;
  for (int i = 0; i < 9; ++i) row.step_waits_ns.push_back(2'500'000 + i * 1000);
  row.step_rest_ns.assign(9, 50'000'000);
  CHECK(composer_rule(row) == LoaderAnswer::unknown);
  row.step_waits_ns.push_back(900'000'000);  // an outlier
  row.step_rest_ns.push_back(50'000'000);
  CHECK(composer_rule(row) == LoaderAnswer::yes);
  row.step_rest_ns.assign(10, 500'000'000);
  CHECK(composer_rule(row) == LoaderAnswer::no);
  row.step_rest_ns.assign(10, 50'000'000);
  row.step_waits_ns.assign(10, 900'000);
  CHECK(composer_rule(row) == LoaderAnswer::no);
}
