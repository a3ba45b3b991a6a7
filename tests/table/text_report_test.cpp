#include "table/sample_table.h"
#include "table/table_formats.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE(
    "text_report: numbers stand right with their units, names left, a rule under the titles") {
  CHECK(text_report(sample_table(), {}).text ==
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
  CHECK(text_report(table, {}).text ==
        "   Total\n"
        "────────\n"
        "61.000 s\n"
        "       -\n");
}

TEST_CASE("text_report: a table without rows is its titles") {
  CHECK(text_report(empty_table(), {}).text ==
        "Name  Instances  Total  Time\n"
        "────  ─────────  ─────  ────\n");
}

TEST_CASE("text_report: colour is bold titles and a dim rule, the text is the same") {
  Table table({{"n", "N", ColumnKind::count}});
  table.add_row({number(1)});
  CHECK(text_report(table, {.colour = true, .width = 0}).text ==
        "\x1b[1mN\x1b[0m\n\x1b[2m─\x1b[0m\n1\n");
}

TEST_CASE("text_report: a name too long for the terminal is cut in its middle") {
  Table table({{"name", "Name", ColumnKind::text}, {"n", "N", ColumnKind::count}});
  table.add_row({"void at::native::vectorized_elementwise_kernel<4>", number(12)});
  table.add_row({"gemm", number(3)});
  CHECK(text_report(table, {.colour = false, .width = 30}).text ==
        "Name                         N\n"
        "──────────────────────────  ──\n"
        "void at::nati…se_kernel<4>  12\n"
        "gemm                         3\n");
}

TEST_CASE("text_report: of several text columns the widest gives way first") {
  Table table({{"a", "A", ColumnKind::text}, {"b", "B", ColumnKind::text}});
  table.add_row({"0123456789012345678901234567890123456789", "abcdefghijklmnopqrst"});
  CHECK(text_report(table, {.colour = false, .width = 42}).text ==
        "A                     B\n"
        "────────────────────  ────────────────────\n"
        "0123456789…123456789  abcdefghijklmnopqrst\n");
}

TEST_CASE("text_report: a name is never cut below what can be read") {
  Table table({{"name", "Name", ColumnKind::text}});
  table.add_row({"abcdefghijklmnopqrstuvwxyz"});
  CHECK(text_report(table, {.colour = false, .width = 5}).text ==
        "Name\n"
        "────────────────\n"
        "abcdefgh…tuvwxyz\n");
}

TEST_CASE("text_report: control characters in a name reach no terminal") {
  Table table({{"name", "Name", ColumnKind::text}});
  table.add_row({"a\nb\tc\r\x1b[31m\x7F\u0085\xFF"});
  CHECK(text_report(table, {}).text ==
        "Name\n"
        "──────────────────────────────\n"
        "a\\nb\\tc\\r\\x1b[31m\\u007f\\u0085\uFFFD\n");
}

TEST_CASE("text_report: durations and counts of every size") {
  Table table({{"d", "D", ColumnKind::duration}, {"c", "C", ColumnKind::count}});
  table.add_row({number(0), number(0)});
  table.add_row({number(999), number(999)});
  table.add_row({number(-2'500'000), number(-1'234'567)});
  CHECK(text_report(table, {}).text ==
        "        D           C\n"
        "─────────  ──────────\n"
        "     0 ns           0\n"
        "   999 ns         999\n"
        "-2.500 ms  -1,234,567\n");
}

TEST_CASE("text_report: columns that matter least are left out until the rest fits") {
  Table table({{"n", "Number", ColumnKind::count},
               {"a", "Most", ColumnKind::count, Readers::most},
               {"b", "Few", ColumnKind::count, Readers::few},
               {"c", "Some", ColumnKind::count, Readers::some},
               {"d", "Some too", ColumnKind::count, Readers::some},
               {"e", "Programs", ColumnKind::count, Readers::programs}});
  table.add_row({number(1), number(2), number(3), number(4), number(5), number(6)});
  const auto titles = [&](int width) {
    const TextReport report = text_report(table, {.width = width});
    CHECK(report.has_more == (width < 33));
    return report.text.substr(0, report.text.find('\n'));
  };
  CHECK(titles(33) == "Number  Most  Few  Some  Some too");
  CHECK(titles(32) == "Number  Most  Some  Some too");
  CHECK(titles(27) == "Number  Most  Some");
  CHECK(titles(17) == "Number  Most");
  CHECK(titles(1) == "Number");
}

TEST_CASE("text_report: a column that says nothing is the first to be left out") {
  Table table({{"n", "Number", ColumnKind::count},
               {"a", "Zeros", ColumnKind::duration, Readers::most},
               {"b", "Empty", ColumnKind::text, Readers::most},
               {"c", "Few", ColumnKind::share, Readers::few}});
  table.add_row({number(1), number(0), "", 0.5});
  table.add_row({number(1), number(0), Cell(), 0.0});
  const std::string text = text_report(table, {.width = 21}).text;
  CHECK(text.substr(0, text.find('\n')) == "Number  Zeros     Few");
}

TEST_CASE("text_report: wide has all columns, those for programs too, and names as they are") {
  Table table(
      {{"name", "Name", ColumnKind::text}, {"n", "N", ColumnKind::count, Readers::programs}});
  table.add_row({"void at::native::vectorized_elementwise_kernel<4>", number(12)});
  const TextReport report = text_report(table, {.width = 20, .wide = true});
  CHECK_FALSE(report.has_more);
  CHECK(report.text.ends_with("void at::native::vectorized_elementwise_kernel<4>  12\n"));
}

TEST_CASE("text_report: names that are not to be cut make room as if they were") {
  Table table({{"n", "N", ColumnKind::count, Readers::few}, {"name", "Name", ColumnKind::text}});
  table.add_row({number(12), "void at::native::vectorized_elementwise_kernel<4>"});
  const TextReport wide = text_report(table, {.width = 28, .cut_names = false});
  CHECK_FALSE(wide.has_more);
  CHECK(wide.text.ends_with("12  void at::native::vectorized_elementwise_kernel<4>\n"));
  const TextReport narrow = text_report(table, {.width = 27, .cut_names = false});
  CHECK(narrow.has_more);
  CHECK(narrow.text.ends_with("\nvoid at::native::vectorized_elementwise_kernel<4>\n"));
}

TEST_CASE("text_report: names are cut to another width than columns are left out for") {
  Table table({{"n", "N", ColumnKind::count, Readers::few}, {"name", "Name", ColumnKind::text}});
  table.add_row({number(12), "void at::native::vectorized_elementwise_kernel<4>"});
  CHECK(text_report(table, {.width = 28, .cut_width = 40})
            .text.ends_with("\n12  void at::native::v…entwise_kernel<4>\n"));
  CHECK(text_report(table, {.width = 27, .cut_width = 40})
            .text.ends_with("\nvoid at::native::vec…ementwise_kernel<4>\n"));
}
