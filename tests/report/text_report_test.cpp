#include "report/text_report.h"

#include "report/sample_table.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE(
    "text_report: numbers stand right with their units, names left, a rule under the titles") {
  CHECK(text_report(sample_table(), {}) ==
        "Name                Instances      Total     Time\n"
        "──────────────────  ─────────  ─────────  ───────\n"
        "gemm                   41,233  61.000 s    61.2 %\n"
        "reduce<float>, \"a\"         -7   1.234 us  100.0 %\n"
        "caf\u00E9                        -          -        -\n");
}

TEST_CASE("text_report: a column of seconds only has no room for a longer unit") {
  Table table({{"total_ns", "Total", ColumnKind::duration}});
  table.add_row({number(61'000'000'000)});
  table.add_row({Cell()});
  CHECK(text_report(table, {}) ==
        "   Total\n"
        "────────\n"
        "61.000 s\n"
        "       -\n");
}

TEST_CASE("text_report: a table without rows is its titles") {
  CHECK(text_report(empty_table(), {}) ==
        "Name  Instances  Total  Time\n"
        "────  ─────────  ─────  ────\n");
}

TEST_CASE("text_report: colour is bold titles and a dim rule, the text is the same") {
  Table table({{"n", "N", ColumnKind::count}});
  table.add_row({number(1)});
  CHECK(text_report(table, {.colour = true, .width = 0}) ==
        "\x1b[1mN\x1b[0m\n\x1b[2m─\x1b[0m\n1\n");
}

TEST_CASE("text_report: a name too long for the terminal is cut in its middle") {
  Table table({{"name", "Name", ColumnKind::text}, {"n", "N", ColumnKind::count}});
  table.add_row({"void at::native::vectorized_elementwise_kernel<4>", number(12)});
  table.add_row({"gemm", number(3)});
  CHECK(text_report(table, {.colour = false, .width = 30}) ==
        "Name                         N\n"
        "──────────────────────────  ──\n"
        "void at::nati…se_kernel<4>  12\n"
        "gemm                         3\n");
}

TEST_CASE("text_report: of several text columns the widest gives way first") {
  Table table({{"a", "A", ColumnKind::text}, {"b", "B", ColumnKind::text}});
  table.add_row({"0123456789012345678901234567890123456789", "abcdefghijklmnopqrst"});
  CHECK(text_report(table, {.colour = false, .width = 42}) ==
        "A                     B\n"
        "────────────────────  ────────────────────\n"
        "0123456789…123456789  abcdefghijklmnopqrst\n");
}

TEST_CASE("text_report: a name is never cut below what can be read") {
  Table table({{"name", "Name", ColumnKind::text}});
  table.add_row({"abcdefghijklmnopqrstuvwxyz"});
  CHECK(text_report(table, {.colour = false, .width = 5}) ==
        "Name\n"
        "────────────────\n"
        "abcdefgh…tuvwxyz\n");
}

TEST_CASE("text_report: control characters in a name reach no terminal") {
  Table table({{"name", "Name", ColumnKind::text}});
  table.add_row({"a\nb\tc\r\x1b[31m\x7F\u0085\xFF"});
  CHECK(text_report(table, {}) ==
        "Name\n"
        "──────────────────────────\n"
        "a\\nb\\tc\\r\\x1b[31m\\x7f\\x85\uFFFD\n");
}

TEST_CASE("text_report: durations and counts of every size") {
  Table table({{"d", "D", ColumnKind::duration}, {"c", "C", ColumnKind::count}});
  table.add_row({number(0), number(0)});
  table.add_row({number(999), number(999)});
  table.add_row({number(-2'500'000), number(-1'234'567)});
  CHECK(text_report(table, {}) ==
        "        D           C\n"
        "─────────  ──────────\n"
        "     0 ns           0\n"
        "   999 ns         999\n"
        "-2.500 ms  -1,234,567\n");
}
