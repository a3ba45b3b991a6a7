#include "table/sample_table.h"
#include "table/table_formats.h"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>

using namespace traceloom;

TEST_CASE("json_report: an array of objects, one line a row") {
  CHECK(json_report(sample_table()) == R"([
  {"name":"gemm","instances":41233,"total_ns":61000000000,"time_share":0.6123},
  {"name":"reduce<float>, \"a\"","instances":-7,"total_ns":1234,"time_share":1},
  {"name":"café","instances":null,"total_ns":null,"time_share":null}
]
)");
}

TEST_CASE("json_report: a table without rows is an empty array") {
  CHECK(json_report(empty_table()) == "[]\n");
}

TEST_CASE("json_report: a share that is no number is null") {
  Table table({{"share", "Share", ColumnKind::share}});
  table.add_row({std::numeric_limits<double>::quiet_NaN()});
  CHECK(json_report(table) == "[\n  {\"share\":null}\n]\n");
}

TEST_CASE("json_report: a flag is true or false") {
  Table table({{"counted", "Counted", ColumnKind::flag}});
  for (const Cell& cell : {Cell{true}, Cell{false}, Cell{}}) table.add_row({cell});
  CHECK(json_report(table) ==
        "[\n  {\"counted\":true},\n  {\"counted\":false},\n  {\"counted\":null}\n]\n");
  CHECK(render_table(table, TableFormat::csv, {}) == "counted\ntrue\nfalse\n\n");
  CHECK(render_table(table, TableFormat::text, {}) ==
        "Counted\n───────\n    yes\n     no\n      -\n");
  CHECK_THROWS_AS(table.add_row({number(1)}), std::invalid_argument);
}

TEST_CASE("json_report: rows go into a bigger object, each on its line where that is indented") {
  Table table({{"n", "N", ColumnKind::count}});
  table.add_row({number(1)});
  table.add_row({number(2)});
  std::string text;
  JsonWriter json(text, 2);
  json.begin_object();
  json.key("schema_version");
  json.value(1);
  json.key("rows");
  append_rows(json, table);
  json.end_object();
  CHECK(text == R"({
  "schema_version": 1,
  "rows": [
    {"n":1},
    {"n":2}
  ]
})");
}

TEST_CASE("json_report: rows in an unindented writer stay on its line") {
  Table table({{"n", "N", ColumnKind::count}});
  table.add_row({number(1)});
  std::string text;
  JsonWriter json(text);
  append_rows(json, table);
  CHECK(text == R"([{"n":1}])");
}
