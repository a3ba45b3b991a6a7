#include "comparison/comparison.h"
#include "page/page.h"
#include "page/read_for_page.h"
#include "page/step_grid.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

// Each step is one operator with one kernel, `longer` us longer than 400 us.
std::string rank_text(int rank, int first_step, int steps, int longer, const std::string& kernel) {
  TraceText text;
  for (int i = 0; i < steps; ++i) {
    const int at = 1000 * i;
    text.pid("1").cat("user_annotation");
    text.x("ProfilerStep#" + std::to_string(first_step + i), at, 900);
    text.cat("cpu_op").x("aten::mm", at + 1, 50);
    text.pid("0").cat("kernel");
    text.x(kernel, at + 100, 400 + longer + i, R"({"device": 0, "stream": 7})");
  }
  return text.object("\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}");
}

Files files_of(int ranks, int first_step, int steps, int longer, const std::string& kernel) {
  Files files;
  for (int rank = 0; rank < ranks; ++rank)
    files.emplace_back("rank" + std::to_string(rank) + ".json",
                       rank_text(rank, first_step, steps, longer * rank, kernel));
  return files;
}

Capture capture_of(const Files& files, const std::string& name) {
  RunRequest request;
  request.shapes = true;
  request.python = true;
  return make_capture(read_texts(files, request), name);
}

PageSide side_of(const Files& files, const std::string& side, const std::string& name) {
  Run run = read_for_page(files);
  return make_page_side(run, {{name, side}, name}, take_page_tree(run));
}

std::string page_of(const Files& base, const Files& changed) {
  const ComparedSides sides{{capture_of(base, "b")}, {capture_of(changed, "n")}};
  const Comparison found = compare(sides, {});
  const Report report = compare_report(sides, {}, found);
  return write_comparison_page({report,
                                found,
                                {"--base b --new n"},
                                side_of(base, "base", "b"),
                                side_of(changed, "new", "n")});
}

}  // namespace

TEST_CASE("comparison page: all sections of a run, of both sides, and deltas above them") {
  const std::string page = page_of(files_of(2, 3, 8, 0, "gemm"), files_of(2, 3, 8, 30, "gemm"));
  CHECK(count_of_text(page, "<section ") == 11);
  CHECK(count_of_text(page, "<section ") == count_of_text(page, "</section>"));
  CHECK(count_of_text(
            page, "<div class=\"side\" data-side=\"base\"><h3 class=\"side-name\">Base: b") == 10);
  CHECK(count_of_text(
            page, "<div class=\"side\" data-side=\"new\"><h3 class=\"side-name\">New: n") == 10);
  for (const char* id : {"delta-heat", "base-heat", "new-heat", "base-timeline-canvas",
                         "new-timeline-canvas", "base-flame", "new-flame", "base-verdict"})
    CHECK(count_of_text(page, fmt::format(" id=\"{}\"", id)) == 1);
  CHECK(count_of_text(page, " id=\"heat\"") == 0);
  CHECK(count_of_text(page, " id=\"verdict\"") == 1);
  CHECK(count_of_text(page, "data-kind=\"INCONCLUSIVE\"") == 1);
  CHECK(count_of_text(page, "<code>trace-stats comm b; trace-stats comm n</code>") == 0);  // none
  CHECK(count_of_text(page, "<code>trace-stats gpu b; trace-stats gpu n</code>") == 2);
  CHECK(count_of_text(page, "<code>trace-stats kernels b</code>") == 1);
  CHECK(count_of_text(page, "--serve") == 0);
}

TEST_CASE("comparison page: a side without traces says so, and the other one is whole") {
  const Files files = files_of(1, 0, 8, 0, "gemm");
  const ComparedSides sides{{capture_of(files, "b")}, {capture_of(files, "n")}};
  const Comparison found = compare(sides, {});
  PageSide none;
  none.side = "base";
  none.name = "b";
  none.why = "it has no traces";
  const std::string page = write_comparison_page(
      {compare_report(sides, {}, found), found, {"b n"}, none, side_of(files, "new", "n")});
  CHECK(count_of_text(page, "<p>it has no traces</p>") == 10);
  CHECK(count_of_text(page, "id=\"delta-heat\"") == 0);
  CHECK(count_of_text(page, "id=\"new-heat\"") == 1);
}

TEST_CASE("comparison page: names that attack are text, and both sides stay below 2 MB") {
  const auto side = [](int longer) {
    TraceText text;
    for (int step = 0; step < 8; ++step) {
      text.pid("1").cat("user_annotation");
      text.x("ProfilerStep#" + std::to_string(step), 100'000 * step, 99'000);
      for (int i = 0; i < 1'200; ++i) {
        const std::string name = "</script><img src=x>" + std::to_string(i) + std::string(300, '<');
        text.pid("1").cat("cpu_op").x(name, 100'000 * step + 80 * i, 60);
        text.pid("0").cat("kernel");
        text.x(name, 100'000 * step + 80 * i, 40 + longer, R"({"device": 0, "stream": 7})");
      }
    }
    return Files{{"rank0.json", text.array()}};
  };
  const std::string page = page_of(side(0), side(5));
  CHECK(count_of_text(page, "<img") == 0);
  CHECK(count_of_text(page, "<script>") == 1);
  CHECK(page.size() < 2'000'000);
  CHECK(page.size() > 300'000);
}

TEST_CASE("delta table: rows are joined by their keys, in their order") {
  const std::vector<Column> columns{{"name", "Name", ColumnKind::text},
                                    {"total_ns", "Total", ColumnKind::duration},
                                    {"share", "Share", ColumnKind::share}};
  Table base(columns);
  base.add_row({"a", std::int64_t{100}, 0.5});
  base.add_row({"b", std::int64_t{40}, Cell()});
  base.add_row({"a", std::int64_t{7}, 0.25});
  Table changed(columns);
  changed.add_row({"a", std::int64_t{130}, 0.25});
  changed.add_row({"c", std::int64_t{9}, 0.125});
  changed.add_row({"a", std::int64_t{5}, 0.25});
  Table table =
      delta_table(base, changed, {.keys = {"name"}, .values = {"total_ns", "share", "no_such"}});
  CHECK(render_table(table, TableFormat::csv, {}) ==
        "name,base_total_ns,new_total_ns,delta_total_ns,base_share,new_share,delta_share\n"
        "a,100,130,30,0.5,0.25,-0.25\n"
        "b,40,,,,,\n"
        "a,7,5,-2,0.25,0.25,0\n"
        "c,,9,,,0.125,\n");
  const Table of_both =
      delta_table(base, changed, {.keys = {"name"}, .values = {"total_ns"}, .of_both = true});
  CHECK(render_table(of_both, TableFormat::csv, {}) ==
        "name,base_total_ns,new_total_ns,delta_total_ns\n"
        "a,100,130,30\n"
        "a,7,5,-2\n");
  put_largest_first(table, 4);
  CHECK(std::get<std::int64_t>(table.rows()[2][1]) == 7);
  put_largest_first(table, 3);
  CHECK(std::get<std::int64_t>(table.rows()[1][1]) == 7);
  CHECK(delta_table(base, changed, {.keys = {"name"}, .values = {}}).rows().empty());
}

TEST_CASE("grid: common grids have the ranks and steps of both sides") {
  const auto roles_of = [](std::int64_t first_rank, std::int64_t first_step, std::int64_t ns) {
    std::vector<RankRoles> roles(3);
    for (std::size_t i = 0; i < roles.size(); ++i) {
      roles[i].rank = first_rank + static_cast<std::int64_t>(i);
      for (std::int64_t number = first_step; number < first_step + 10; ++number) {
        StepRoles step;
        step.step.number = number;
        step.step.counted = true;
        step.total_ns = ns + roles[i].rank + 10 * number;
        step.step.time = {0, step.total_ns};
        step.exclusive[Role::cpu] = step.total_ns;
        roles[i].steps.push_back(step);
      }
    }
    return roles;
  };
  std::vector<StepKey> shown;
  for (std::int64_t number = 0; number < 20; ++number) shown.push_back({.number = number});
  const std::vector<RankRoles> before = roles_of(0, 0, 1000);
  const auto [base, changed] = make_common_grids(before, roles_of(1, 4, 3000), shown, 100);
  CHECK(base.rows == std::vector<std::string>{"1", "2"});
  CHECK(changed.rows == base.rows);
  CHECK(base.columns == std::vector<std::string>{"4", "5", "6", "7", "8", "9"});
  CHECK(base.cells[0].total_ns == 1041);
  CHECK(changed.cells[0].total_ns == 3041);
  // Of steps that share a column, the one that changed most is shown on both sides.
  std::vector<RankRoles> after = roles_of(1, 4, 3000);
  PackedRows<StepRoles> steps;
  for (StepRoles step : after[1].steps) {
    if (step.step.number == 8) step.step.time.to_ns = step.total_ns += 50;
    steps.push_back(step);
  }
  after[1].steps = std::move(steps);
  const auto [few, others] = make_common_grids(before, after, shown, 4);
  CHECK(few.columns == std::vector<std::string>{"4-6", "7-9"});
  CHECK(few.steps == std::vector<std::string>{"4", "8"});
  CHECK(few.cells[3].total_ns == 1082);
  CHECK(others.cells[3].total_ns == 3132);
  CHECK(make_common_grids(before, after, {{.number = 5}}, 4).first.steps ==
        std::vector<std::string>{"5"});
  CHECK(make_common_grids(roles_of(0, 0, 1), roles_of(7, 0, 1), shown, 100).first.cells.empty());
}

TEST_CASE("grid: the differences of two sides are shares of the greatest") {
  StepGrid base;
  base.rows = {"0"};
  base.columns = {"1", "2", "3"};
  base.ranks = {0};
  base.steps = {"1", "2", "3"};
  base.cells.resize(3);
  base.cells[0].total_ns = 100;
  base.cells[1].total_ns = 100;
  StepGrid changed = base;
  changed.cells[0].total_ns = 60;
  changed.cells[1].total_ns = 180;
  changed.cells[2].total_ns = 50;
  std::string page;
  HtmlWriter html(page);
  write_delta_grid(html, base, changed);
  // -16384, 32767, and none, as two bytes each, the lower one first.
  CHECK(count_of_text(page, ">AMD/fwCA</script>") == 1);
  CHECK(count_of_text(page, "\"max_ns\":80,\"is_delta\":true,\"roles\":[]") == 1);
}
