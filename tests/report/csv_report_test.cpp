#include "report/csv_report.h"

#include "report/sample_table.h"

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
