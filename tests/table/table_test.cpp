#include "table/table.h"

#include "table/sample_table.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace traceloom;

TEST_CASE("table: a row needs one cell a column") {
  Table table = empty_table();
  CHECK_THROWS_WITH_AS(table.add_row({"gemm"}), "a row needs one cell a column",
                       std::invalid_argument);
  CHECK(table.rows().empty());
}

TEST_CASE("table: a cell is of its column's kind or empty") {
  Table table = empty_table();
  CHECK_THROWS_WITH_AS(table.add_row({"gemm", 0.5, number(1), 0.5}),
                       "a cell of another kind than its column instances", std::invalid_argument);
  CHECK_THROWS_WITH_AS(table.add_row({"gemm", number(1), "1", 0.5}),
                       "a cell of another kind than its column total_ns", std::invalid_argument);
  CHECK_THROWS_WITH_AS(table.add_row({"gemm", number(1), number(1), number(1)}),
                       "a cell of another kind than its column time_share", std::invalid_argument);
  CHECK_THROWS_WITH_AS(table.add_row({0.5, number(1), number(1), 0.5}),
                       "a cell of another kind than its column name", std::invalid_argument);
  table.add_row({Cell(), Cell(), Cell(), Cell()});
  CHECK(table.rows().size() == 1);
}

TEST_CASE("table: the names of the formats are those of the enum") {
  CHECK(parse_table_format("table") == TableFormat::text);
  CHECK(parse_table_format("csv") == TableFormat::csv);
  CHECK(parse_table_format("json") == TableFormat::json);
  CHECK(parse_table_format("md") == TableFormat::md);
  CHECK(parse_table_format("columns") == TableFormat::columns);
  CHECK_FALSE(parse_table_format("text"));
  CHECK_FALSE(parse_table_format(""));
}

TEST_CASE("table: render_table gives the form that was asked for") {
  Table table({{"n", "N", ColumnKind::count}});
  table.add_row({number(1)});
  CHECK(render_table(table, TableFormat::text, {}) == "N\n─\n1\n");
  CHECK(render_table(table, TableFormat::csv, {}) == "n\n1\n");
  CHECK(render_table(table, TableFormat::json, {}) == "[\n  {\"n\":1}\n]\n");
  CHECK(render_table(table, TableFormat::md, {}) == "|   N |\n| --: |\n|   1 |\n");
}

TEST_CASE("table: bytes and quantities read with their units, and are plain numbers for programs") {
  Table table({{"unit", "Unit", ColumnKind::text},
               {"mean", "Mean", ColumnKind::quantity},
               {"bytes", "Bytes", ColumnKind::bytes}});
  table.add_row({unit_cell(QuantityUnit::share), 0.5, std::int64_t{-1536}});
  table.add_row({unit_cell(QuantityUnit::bytes), 2048.0, std::int64_t{0}});
  table.add_row({unit_cell(QuantityUnit::bytes_per_second), 3e6, std::int64_t{1} << 40});
  table.add_row({unit_cell(QuantityUnit::per_second), 1.5, Cell{}});
  table.add_row({unit_cell(QuantityUnit::none), 2.25, Cell{}});
  table.add_row({Cell{}, Cell{}, Cell{}});
  CHECK(render_table(table, TableFormat::text, {}) ==
        "Unit          Mean     Bytes\n"
        "───────  ─────────  ────────\n"
        "share       50.0 %  -1.5 KiB\n"
        "bytes      2.0 KiB       0 B\n"
        "bytes/s  2.9 MiB/s   1.0 TiB\n"
        "1/s       1.500 /s         -\n"
        "             2.250         -\n"
        "-                -         -\n");
  CHECK(render_table(table, TableFormat::csv, {}) ==
        "unit,mean,bytes\nshare,0.5,-1536\nbytes,2048,0\nbytes/s,3000000,1099511627776\n"
        "1/s,1.5,\n,2.25,\n,,\n");
  CHECK_THROWS_AS(table.add_row({Cell{}, std::int64_t{1}, Cell{}}), std::invalid_argument);
}

TEST_CASE("table: nested rows are sorted beside each other, and names are indented for people") {
  Table table({{"depth", "Depth", ColumnKind::count, Readers::programs},
               {"ns", "Time", ColumnKind::count},
               {"name", "Name", ColumnKind::text}});
  table.nest("depth", "name");
  const auto add = [&](std::int64_t depth, std::int64_t ns, const char* name) {
    table.add_row({depth, ns, std::string(name)});
  };
  add(0, 10, "a");
  add(1, 2, "a.a");
  add(2, 2, "a.a.a");
  add(1, 8, "a.b");
  add(0, 30, "b");
  REQUIRE(table.sort_by("ns"));
  CHECK(render_table(table, TableFormat::csv, {}) ==
        "depth,ns,name\n0,30,b\n0,10,a\n1,8,a.b\n1,2,a.a\n2,2,a.a.a\n");
  CHECK(render_table(table, TableFormat::text, {}) ==
        "Time  Name\n────  ───────\n  30  b\n  10  a\n   8   a.b\n   2   a.a\n   2    a.a.a\n");
  CHECK_THROWS_AS(table.nest("ns", "nobody"), std::invalid_argument);
}

TEST_CASE("table: what rows are sorted by is shown to people") {
  Table table({{"n", "N", ColumnKind::count}, {"p", "P", ColumnKind::count, Readers::programs}});
  table.add_row({std::int64_t{1}, std::int64_t{2}});
  CHECK(render_table(table, TableFormat::md, {}).find('P') == std::string::npos);
  CHECK(table.sort_by("p"));
  CHECK(render_table(table, TableFormat::text, {.width = 1}) == "N  P\n─  ─\n1  2\n");
}

TEST_CASE("table: the rows with the largest numbers stay, in their order") {
  Table table({{"name", "Name", ColumnKind::text}, {"ns", "Time", ColumnKind::duration}});
  for (const auto& [name, ns] : {std::pair{"a", 1}, {"b", -9}, {"c", 2}, {"d", 4}, {"e", 2}})
    table.add_row({name, std::int64_t{ns}});
  table.add_row({"f", Cell()});
  const auto names = [](const Table& of) {
    std::string all;
    for (const auto& row : of.rows()) all += std::get<std::string>(row[0]);
    return all;
  };
  table.keep_largest("ns", 6);
  CHECK(names(table) == "abcdef");
  table.keep_largest("ns", 3);
  CHECK(names(table) == "bcd");
  table.keep_largest("other", 1);
  CHECK(names(table) == "bcd");
}

TEST_CASE("table: long texts keep both ends") {
  Table table({{"name", "Name", ColumnKind::text}, {"n", "N", ColumnKind::count}});
  table.add_row({Cell("void kernel<4>(int)\n"), Cell(std::int64_t{1})});
  table.add_row({Cell("short"), Cell()});
  table.shorten_texts(11);
  CHECK(table.rows()[0][0] == Cell("void …nt)\\n"));
  CHECK(table.rows()[0][1] == Cell(std::int64_t{1}));
  CHECK(table.rows()[1][0] == Cell("short"));
}

TEST_CASE("table: grouped rows have sums of counts and means of all other numbers") {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"step", "Step", ColumnKind::count},
               {"name", "Name", ColumnKind::text},
               {"count", "Count", ColumnKind::count},
               {"mean_ns", "Mean", ColumnKind::duration},
               {"busy_share", "Busy", ColumnKind::share}});
  const auto add = [&](std::int64_t rank, std::int64_t step, Cell count, Cell ns, Cell busy) {
    table.add_row({Cell(rank), Cell(step), Cell("a"), count, ns, busy});
  };
  add(0, 1, Cell(std::int64_t{2}), Cell(std::int64_t{10}), Cell(0.25));
  add(1, 1, Cell(std::int64_t{3}), Cell(std::int64_t{20}), Cell(0.75));
  add(1, 2, Cell(std::int64_t{4}), Cell(std::int64_t{40}), Cell{});
  add(2, 1, Cell{}, Cell(std::int64_t{50}), Cell(0.5));
  const Table grouped =
      table.grouped(0, {"stage", "Stage", ColumnKind::count},
                    [](const Cell& rank) { return Cell(std::get<std::int64_t>(rank) / 2); });
  CHECK(render_table(grouped, TableFormat::csv, {}) ==
        "stage,step,name,count,mean_ns,busy_share\n"
        "0,1,a,5,15,0.5\n"
        "0,2,a,4,40,\n"
        "1,1,a,,50,0.5\n");
  table.nest("step", "name");
  CHECK_THROWS_AS(table.grouped(0, {"stage", "Stage", ColumnKind::count}, {}),
                  std::invalid_argument);
}
