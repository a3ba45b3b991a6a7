#include "table/sample_table.h"
#include "table/table_formats.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("csv_report: keys as header, times in ns, shares as they are, empty cells empty") {
  CHECK(csv_report(sample_table()) ==
        "name,instances,total_ns,time_share\n"
        "gemm,41233,61000000000,0.6123\n"
        "\"reduce<float>, \"\"a\"\"\",-7,1234,1\n"
        "caf\u00E9,,,\n");
}

TEST_CASE("csv_report: a comma, a quote or a line break puts a field into quotes") {
  Table table({{"a,b", "A", ColumnKind::text}});
  for (const char* text : {"plain text", "a,b", "say \"hi\"", "two\nlines", "cr\r", "\xFF"})
    table.add_row({text});
  CHECK(csv_report(table) ==
        "\"a,b\"\n"
        "plain text\n"
        "\"a,b\"\n"
        "\"say \"\"hi\"\"\"\n"
        "\"two\nlines\"\n"
        "\"cr\r\"\n"
        "\uFFFD\n");
}

TEST_CASE("csv_report: a table without rows is its header") {
  CHECK(csv_report(empty_table()) == "name,instances,total_ns,time_share\n");
}

TEST_CASE("csv_report: for spreadsheets, an apostrophe stands before a name that they would run") {
  Table table({{"name", "Name", ColumnKind::text}, {"total_ns", "Total", ColumnKind::duration}});
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\ttab", "\rcr", "\nlf", "\uFF1D1",
                           "\uFF0B", "\uFF0D", "\uFF20", "=a,b", "a=b", " =a", "'a", "", "gemm"})
    table.add_row({text, std::int64_t{-5}});
  CHECK(csv_report(table, true) ==
        "name,total_ns\n"
        "'=1+1,-5\n"
        "'+1,-5\n"
        "'-1,-5\n"
        "'@SUM(A1),-5\n"
        "'\ttab,-5\n"
        "\"'\rcr\",-5\n"
        "\"'\nlf\",-5\n"
        "'\uFF1D1,-5\n"
        "'\uFF0B,-5\n"
        "'\uFF0D,-5\n"
        "'\uFF20,-5\n"
        "\"'=a,b\",-5\n"
        "a=b,-5\n"
        " =a,-5\n"
        "'a,-5\n"
        ",-5\n"
        "gemm,-5\n");
  CHECK(render_table(table, TableFormat::csv, {.csv_safe = true}) == csv_report(table, true));
  CHECK(csv_report(table).starts_with("name,total_ns\n=1+1,-5\n"));
}
