#include "table/sample_table.h"
#include "table/table_formats.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("markdown_report: a padded table with numbers at the right") {
  CHECK(markdown_report(sample_table()) ==
        "| Name                | Instances |    Total |    Time |\n"
        "| :------------------ | --------: | -------: | ------: |\n"
        "| gemm                |    41,233 | 61.000 s |  61.2 % |\n"
        "| reduce\\<float>, \"a\" |        -7 | 1.234 us | 100.0 % |\n"
        "| caf\u00E9                |         - |        - |       - |\n");
}

TEST_CASE("markdown_report: what Markdown would read in a name is escaped, and no more") {
  const auto escaped = [](const char* text) {
    Table table({{"name", "Name", ColumnKind::text}});
    table.add_row({text});
    const std::string out = markdown_report(table);
    // start of the cell, after "\n| "
    const std::size_t start = out.rfind('\n', out.size() - 2) + 3;
    return out.substr(start, out.find_last_not_of(" |\n") + 1 - start);
  };
  CHECK(escaped("ncclDevKernel_AllReduce_Sum_f32") == "ncclDevKernel_AllReduce_Sum_f32");
  CHECK(escaped("aten::add_") == "aten::add_");
  CHECK(escaped("__init__ x._y") == "\\_\\_init__ x.\\_y");
  CHECK(escaped("kernel<4, a<b>>") == "kernel<4, a\\<b>>");
  CHECK(escaped("a < b <= c </p> <!x") == "a < b <= c \\</p> \\<!x");
  CHECK(escaped("char*, `x` [y](z) ~a~ $b$ a&b") ==
        "char\\*, \\`x\\` \\[y](z) \\~a\\~ \\$b\\$ a\\&b");
  CHECK(escaped("a|b\\c") == "a\\|b\\\\c");
  CHECK(escaped("two\nlines") == "two\\\\nlines");
}

TEST_CASE("markdown_report: a line of text is escaped as a name is") {
  CHECK(markdown_line("GPU 0: most by a|b <b>\x1b[1m\n") ==
        "GPU 0: most by a\\|b \\<b>\\\\x1b\\[1m\\\\n");
}

TEST_CASE("markdown_report: a name calls no person and no issue") {
  CHECK(markdown_line("for @ann, see #12") == "for @<!-- -->ann, see #<!-- -->12");
  CHECK(markdown_line("memcpy@plt step#3 @ # #x") == "memcpy@plt step#3 @ # #x");
}
