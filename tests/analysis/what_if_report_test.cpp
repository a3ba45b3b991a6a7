#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

// WRITE: exact values of the answer.
TEST_CASE("what-if: the longest span of each rank") {
  const std::string text = TraceText().cat("cpu_op").x("short", 0, 2).x("long", 5, "7.5").array();
  const Report report = what_if_report(read_texts({{"rank3.json", text}}));
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(number_in(row, "rank") == 3);
  CHECK(number_in(row, "longest_ns") == 7'500);
  CHECK(text_in(row, "name") == "long");
}
