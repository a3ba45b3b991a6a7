#include "page/html/figures.h"
#include "page/html/html_writer.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

std::string text_of(const Table& table, const TableLook& look) {
  std::string page;
  HtmlWriter html(page);
  write_table(html, table, look);
  return page;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("html table: exact numbers beside their texts, shares with a bar, names as text") {
  Table table({{"name", "Name", ColumnKind::text},
               {"total_ns", "Total", ColumnKind::duration},
               {"share", "Share", ColumnKind::share},
               {"bytes", "Bytes", ColumnKind::bytes},
               {"rare", "Rare", ColumnKind::count, Readers::few}});
  table.add_row(
      {Cell("<b>"), Cell(std::int64_t{1'234'567}), Cell(0.25), Cell{}, Cell(std::int64_t{1})});
  table.add_row({Cell{}, Cell{}, Cell(2.0), Cell{}, Cell{}});
  const std::string page = text_of(
      table, {.caption = "Kernels", .command = "trace-stats kernels x", .source = "kernels.rows"});
  CHECK(has(page, "<h3>Kernels</h3><p class=\"command\"><code>trace-stats kernels x</code></p>"));
  CHECK(has(page, "<table class=\"data\" data-t=\"kernels.rows\" aria-label=\"Kernels\">"));
  CHECK(has(page, "<th scope=\"col\" data-k=\"total_ns\" class=\"n\">Total</th>"));
  CHECK(has(page,
            "<tr><td>&lt;b&gt;<td class=n data-v=1234567>1.235 ms<td class=n data-v=0.25>25.0 %"
            "<svg class=share aria-hidden=true><rect width=25.0% height=100% /></svg>\n"));
  // A share of more than all has a full bar.
  CHECK(has(page,
            "<tr><td>-<td class=n>-<td class=n data-v=2>200.0 %<svg class=share "
            "aria-hidden=true><rect width=100.0% height=100% /></svg>\n"));
  CHECK(!has(page, "Bytes"));  // no row has a value
  CHECK(!has(page, "Rare"));
}

TEST_CASE("html table: the first rows only, and how many there are") {
  Table table({{"n", "N", ColumnKind::count}});
  for (std::int64_t i = 0; i < 1500; ++i) table.add_row({Cell(i)});
  const std::string page =
      text_of(table, {.caption = "Rows", .command = "trace-stats x", .most_rows = 2});
  CHECK(has(page, "The first 2 of 1,500 rows. All: <code>trace-stats x</code>"));
  CHECK(has(page, "data-v=1>"));
  CHECK(!has(page, "data-v=2>"));
  CHECK(
      text_of(Table({{"n", "N", ColumnKind::count}}), {.caption = "None", .command = "x"}).empty());
}

TEST_CASE("html table: a tree has its depths, and all rows") {
  Table table({{"depth", "Depth", ColumnKind::count, Readers::programs},
               {"name", "Name", ColumnKind::text}});
  table.add_row({Cell(std::int64_t{0}), Cell("root")});
  table.add_row({Cell(std::int64_t{1}), Cell("child")});
  const std::string page =
      text_of(table, {.caption = "Tree", .command = "x", .most_rows = 1, .is_tree = true});
  CHECK(has(page, "<tr data-d=0><td>root\n<tr data-d=1><td>  child\n"));
}

TEST_CASE("figures: the parts of a bar stand behind each other, and are said in words") {
  std::string page;
  HtmlWriter html(page);
  write_stacked_bars(
      html, "By rank",
      {{"rank 0", "4.000 ms", {{"kernel", 0.5, "kernel 2 ms"}, {"cpu", 0.125, "cpu <1"}}}});
  CHECK(has(page, "aria-label=\"rank 0: 4.000 ms; kernel 2 ms; cpu &lt;1\""));
  CHECK(
      has(page, "<rect class=kernel x=0% width=50% height=100%><title>kernel 2 ms</title></rect>"));
  CHECK(has(page, "<rect class=cpu x=50% width=12.5% height=100%><title>cpu &lt;1</title></rect>"));
}

TEST_CASE("figures: columns stand on the ground, and a curve reaches from 0 to its peak") {
  std::string page;
  HtmlWriter html(page);
  write_columns(
      html, "Steps",
      {{"1", "", {{"cpu", 0.25, "a"}, {"other", 0.5, "b"}}}, {"2", "", {{"cpu", 1, "c"}}}},
      "step 1", "step 2");
  CHECK(has(page, "<rect class=cpu x=0% y=75% width=45% height=25%>"));
  CHECK(has(page, "<rect class=other x=0% y=25% width=45% height=50%>"));
  CHECK(has(page, "<rect class=cpu x=50% y=0% width=45% height=100%>"));
  page.clear();
  write_curve(html, {.title = "GPU0",
                     .words = "peak 8 B",
                     .points = {{0, 4}, {500, 8}, {1000, 2}},
                     .second = {},
                     .has_steps = true});
  CHECK(has(page, "points=\"0.0,50.0 500.0,50.0 500.0,2.0 1000.0,2.0 1000.0,74.0 \""));
  CHECK(has(page, "aria-label=\"GPU0: peak 8 B\""));
}
