// Spans as long as possible: sums of them are cut to the limit of int64 nanoseconds. tests/commands
// takes every command.
#include "support/long_times.h"

#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "support/report_cells.h"
#include "support/run_texts.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Run read_long_times() {
  return read_texts({{"rank0.json", long_trace()}, {"rank1.json", long_trace()}},
                    {.details = true, .arguments = true, .frames = true});
}

}  // namespace

TEST_CASE("saturating: sums and differences stop at the greatest and the least number") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK(saturating_add(3, -5) == -2);
  CHECK(saturating_add(kMost, 1) == kMost);
  CHECK(saturating_add(kLeast, -1) == kLeast);
  CHECK(saturating_add(kMost, kLeast) == -1);
  CHECK(saturating_subtract(3, 5) == -2);
  CHECK(saturating_subtract(kMost, -1) == kMost);
  CHECK(saturating_subtract(kLeast, 1) == kLeast);
  CHECK(saturating_subtract(0, kLeast) == kMost);
  std::int64_t sum = kMost - 1;
  add_to(sum, 5);
  CHECK(sum == kMost);
}

TEST_CASE("long times: the mean of a step is its own, and totals are the greatest there are") {
  const Run run = read_long_times();
  const ReportRow step = rows_of(steps_report(run, {}), "summary").at(0);
  CHECK(number_in(step, "total_ns") == kLongNs);
  const ReportRow copies = rows_of(memcpy_report(run, {}), "rows").at(0);
  CHECK(number_in(copies, "total_ns") == kMost);
  CHECK(number_in(copies, "bytes") == kMost);
  CHECK(number_in(copies, "mean_ns") == kLongNs - 3000);
  for (const ReportRow& kernel : rows_of(kernels_report(run, {}), "rows")) {
    CHECK(number_in(kernel, "total_ns") == kMost);
    CHECK(number_in(kernel, "mean_ns") == kLongNs - 3000);
    CHECK(number_in(kernel, "stddev_ns") == 0);
  }
  const ReportRow mm = rows_of(ops_report(run, {}), "rows").at(0);
  CHECK(number_in(mm, "host_total_ns") == kMost);
  CHECK(number_in(mm, "device_total_ns") == kMost);
  CHECK(number_in(rows_of(comm_report(run, {}), "ranks").at(0), "total_ns") == kMost);
  CHECK(number_in(rows_of(dataloader_report(run), "iterators").at(0), "total_ns") == kMost);
  for (const ReportRow& category : rows_of(info_report(run), "categories"))
    if (std::get<std::string>(cell_in(category, "category")) != "user_annotation")
      CHECK(number_in(category, "total_ns") >= kLongNs);
}
