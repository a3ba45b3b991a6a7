#include "summarize/summarize.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

SummaryRow make_row(std::string name, std::vector<std::string> categories, std::int64_t count,
                    std::int64_t total_ns, double share) {
  SummaryRow row;
  row.name = std::move(name);
  row.categories = std::move(categories);
  row.share = share;
  row.stats = {.count = count,
               .total_ns = total_ns,
               .mean_ns = 2,
               .min_ns = 1,
               .p50_ns = 3,
               .p90_ns = 4,
               .p99_ns = 5,
               .max_ns = 6,
               .stddev_ns = 7};
  return row;
}

Summary example() {
  Summary summary;
  summary.by = {.name = true};
  FileFacts file;
  file.path = "rank0.json";
  file.rank = 0;
  file.events = 12;
  file.text_bytes = 345;
  file.problems.add(Problem::end_without_begin, 67, 3);
  FileFacts merged;
  merged.path = "merged.json";
  merged.ranks = {0, 3};
  FileFacts failed;
  failed.path = "log.json";
  failed.error = "log.json: not a trace";
  summary.files = {file, merged, failed};
  summary.rows = {make_row("gemm", {"a", "b"}, 2, 1'234'000, 0.75),
                  make_row("say \"hi\"", {"", "b", "c", "d"}, 1, 500, 0.25)};
  return summary;
}

}  // namespace

TEST_CASE("summary_report: JSON has the promised shape") {
  CHECK(render_summary(example(), TableFormat::json, {}) == R"({
  "schema_version": 1,
  "command": "summarize",
  "files": [
    {
      "path": "rank0.json",
      "rank": 0,
      "ranks": [],
      "events": 12,
      "text_bytes": 345,
      "error": null
    },
    {
      "path": "merged.json",
      "rank": null,
      "ranks": [
        0,
        3
      ],
      "events": 0,
      "text_bytes": 0,
      "error": null
    },
    {
      "path": "log.json",
      "rank": null,
      "ranks": [],
      "events": 0,
      "text_bytes": 0,
      "error": "log.json: not a trace"
    }
  ],
  "rows": [
    {"name":"gemm","category":"a; b","count":2,"total_ns":1234000,"mean_ns":2,"min_ns":1,"p50_ns":3,"p90_ns":4,"p99_ns":5,"max_ns":6,"stddev_ns":7,"share":0.75},
    {"name":"say \"hi\"","category":"(none); b; c; d","count":1,"total_ns":500,"mean_ns":2,"min_ns":1,"p50_ns":3,"p90_ns":4,"p99_ns":5,"max_ns":6,"stddev_ns":7,"share":0.25}
  ],
  "problems": [
    {
      "file": "rank0.json",
      "kind": "end_without_begin",
      "count": 3,
      "first_offset": 67
    }
  ]
}
)");
}

TEST_CASE("summary_report: JSON and CSV begin with the rank when rows are grouped by it") {
  Summary summary = example();
  summary.by = {.rank = true};
  summary.files.clear();
  summary.rows = {make_row("", {"c"}, 1, 9, 1)};
  summary.rows[0].rank = 4;
  summary.rows[0].name.reset();
  CHECK(render_summary(summary, TableFormat::csv, {}) ==
        "rank,name,category,count,total_ns,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,stddev_ns,"
        "share\n"
        "4,,c,1,9,2,1,3,4,5,6,7,1\n");
  CHECK(render_summary(summary, TableFormat::json, {})
            .find(R"({"rank":4,"name":null,"category":"c",)") != std::string::npos);
}

TEST_CASE("summary_report: text has the names last and at most three categories") {
  CHECK(
      render_summary(example(), TableFormat::text, {}) ==
      R"(Time %     Total  Count   Avg   Min   Med   P90   P99   Max  StdDev  Category           Name
──────  ────────  ─────  ────  ────  ────  ────  ────  ────  ──────  ─────────────────  ────────
75.0 %  1.234 ms      2  2 ns  1 ns  3 ns  4 ns  5 ns  6 ns    7 ns  a; b               gemm
25.0 %    500 ns      1  2 ns  1 ns  3 ns  4 ns  5 ns  6 ns    7 ns  (none); b; c, ...  say "hi"
)");
}

TEST_CASE("summary_report: a narrow terminal gets fewer columns") {
  const auto header = [](int width, SummaryGrouping by) {
    Summary summary = example();
    summary.by = by;
    const std::string text = render_summary(summary, TableFormat::text, {.width = width});
    std::string words;
    for (const char c : text.substr(0, text.find('\n')))
      if (c != ' ' || (!words.empty() && words.back() != ' ')) words += c;
    return words;
  };
  CHECK(header(120, {.name = true}) ==
        "Time % Total Count Avg Min Med P90 P99 Max StdDev Category Name");
  CHECK(header(80, {.name = true}) == "Time % Total Count Avg Med P99 Max Category Name");
  CHECK(header(62, {.name = true}) == "Time % Total Count Avg Med P99 Max Name");
  CHECK(header(45, {.name = true}) == "Time % Total Count Avg P99 Name");
  CHECK(header(62, {.name = true, .category = true}) == "Time % Total Count Avg Category Name");
  CHECK(header(1, {.name = true}) == "Time % Total Count Name");
}

TEST_CASE("summary_report: of two rows of one name the category is always shown") {
  Summary summary = example();
  summary.rows[0].name = summary.rows[1].name = "step";
  const std::string text = render_summary(summary, TableFormat::text, {.width = 45});
  CHECK(text.substr(0, text.find('\n')) == "Time %     Total  Count  Category          Name");
  summary.by.rank = true;
  summary.rows[0].rank = 0;
  summary.rows[1].rank = 1;
  CHECK(render_summary(summary, TableFormat::text, {.width = 45}).find("Category") ==
        std::string::npos);
}

TEST_CASE("summary_report: a narrow terminal gets a note, and the column of the order") {
  Summary summary = example();
  summary.order = SummaryOrder::stddev;
  const std::string text = render_summary(summary, TableFormat::text, {.width = 40});
  CHECK(text.substr(0, text.find('\n')) == "Time %     Total  Count  StdDev  Name");
  CHECK(text.ends_with("\n\nnote: more columns: --wide, a wider terminal, --format csv or json\n"));
  CHECK(render_summary(summary, TableFormat::text, {.width = 40, .wide = true}).find("note") ==
        std::string::npos);
}

TEST_CASE("summary_report: columns that say nothing are left out for people") {
  Summary summary = example();
  summary.rows = {make_row("a", {""}, 1, 1, 1)};
  CHECK(render_summary(summary, TableFormat::md, {}).find("Category") == std::string::npos);
  summary.by = {.category = true};
  const std::string text = render_summary(summary, TableFormat::md, {});
  CHECK(text.find("Category") != std::string::npos);
  CHECK(text.find("Name") == std::string::npos);
}
