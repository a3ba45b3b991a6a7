#include "analysis/report.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

Report hostile_report() {
  Report report("memory", Run{});
  report.headline = {"GPU: a\x1b]0;x\x07|<b>\nb."};
  Table table({{"name", "Name", ColumnKind::text}});
  table.add_row({"c\u009b"});
  report.tables.push_back({"rows", "Of \x1b[2J", table});
  report.notes = {"rank 0: d\r\u202e_*"};
  return report;
}

}  // namespace

TEST_CASE("report: headlines, titles and notes hold nothing that a terminal obeys") {
  CHECK(render_report(hostile_report(), TableFormat::text, {}) ==
        "GPU: a\\x1b]0;x\\x07|<b>\\nb.\n"
        "\n"
        "Of \\x1b[2J\n"
        "Name\n"
        "───────\n"
        "c\\u009b\n"
        "\n"
        "note: rank 0: d\\r\\u202e_*\n");
}

TEST_CASE("report: sentences are wrapped below their first word") {
  Report report("bottleneck", Run{});
  report.headline = {"Verdict: compute (80 %)", "  - 80 % of the mean step",
                     "Next: use a b c d e f"};
  report.notes = {"one two three four five"};
  const TextStyle style{.width = 20, .wrap = true};
  CHECK(render_report(report, TableFormat::text, style) ==
        "Verdict: compute\n"
        "  (80 %)\n"
        "  - 80 % of the mean\n"
        "    step\n"
        "Next: use a b c d e\n"
        "      f\n"
        "\n"
        "note: one two three\n"
        "      four five\n");
}

TEST_CASE("report: nor what Markdown or HTML would read") {
  CHECK(render_report(hostile_report(), TableFormat::md, {}) ==
        "GPU: a\\\\x1b]0;x\\\\x07\\|\\<b>\\\\nb.\n"
        "\n"
        "### Of \\\\x1b\\[2J\n"
        "\n"
        "| Name     |\n"
        "| :------- |\n"
        "| c\\\\u009b |\n"
        "\n"
        "- rank 0: d\\\\r\\\\u202e_\\*\n");
}
