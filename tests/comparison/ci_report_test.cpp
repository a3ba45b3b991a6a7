#include "comparison/comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace traceloom {
namespace {

// What a trace could put into names and paths to break a report.
const std::string kHostile = "a\x1b[31m\n::error::<b> ]]> 5% \xef\xbf\xbf\xff";

Report report_of(const std::string& sentence, const std::string& name) {
  Report report("compare", Run{});
  report.headline = {sentence};
  Table table({{"work", "Work", ColumnKind::text}});
  table.add_row({name});
  report.tables.push_back({"rows", "Rows", std::move(table)});
  return report;
}

Comparison incomparable() {
  Comparison found;
  found.kind = ChangeKind::incomparable;
  return found;
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 && letter != '\n';
  });
}

TEST_CASE("ci report: names cannot break annotations of GitHub") {
  const std::string text = github_annotations({}, incomparable(), report_of(kHostile, ""));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_FALSE(has_control(text));
  CHECK(text.find("\\x1b[31m\\n::error::<b> ]]> 5%25") != std::string::npos);
}

TEST_CASE("ci report: names cannot break JUnit's XML") {
  const std::string text = junit_report(
      {}, incomparable(), report_of(kHostile, kHostile + "\xef\xbf\xbe"), false, {kHostile, 0});
  CHECK_FALSE(has_control(text));
  CHECK(text.find("message=\"a\\x1b[31m\\n::error::&lt;b&gt; ]]&gt; 5% \xef\xbf\xbd") !=
        std::string::npos);
  CHECK(text.find("\xef\xbf\xbf") == std::string::npos);
  CHECK(text.find("\xef\xbf\xbe") == std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
}

TEST_CASE("ci report: JUnit's XML says where and when, in UTC") {
  CHECK(junit_report({}, incomparable(), report_of("other shapes", "gemm"), false,
                     {"node7", 1'700'000'000}) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="trace-stats compare" package="trace-stats" id="0" timestamp="2023-11-14T22:13:20" hostname="node7" tests="1" failures="0" errors="1" skipped="0" time="0">
    <properties/>
    <testcase classname="trace-stats.compare" name="sides" time="0"><error type="INCOMPARABLE" message="other shapes"/></testcase>
    <system-out>other shapes

Rows
Work
────
gemm
</system-out>
    <system-err/>
  </testsuite>
</testsuites>
)");
  const std::string nowhere = junit_report({}, incomparable(), report_of("", ""), false, {});
  CHECK(nowhere.find(" timestamp=\"1970-01-01T00:00:00\" hostname=\"localhost\" ") !=
        std::string::npos);
}

TEST_CASE("ci report: a comment has the ranks that changed most") {
  Report report("compare", Run{});
  report.headline = {"verdict"};
  Table rows({{"work", "Work", ColumnKind::text}});
  for (int i = 0; i < 30; ++i) rows.add_row({"gemm"});
  Table ranks({{"rank", "Rank", ColumnKind::count}, {"own_ns", "Own", ColumnKind::duration}});
  for (std::int64_t rank = 0; rank < 1024; ++rank)
    ranks.add_row({rank, rank == 700 ? std::int64_t{-9000} : std::int64_t{5}});
  report.tables.push_back({"rows", "", std::move(rows)});
  report.tables.push_back({"ranks", "All ranks", std::move(ranks), true, "own_ns"});
  const std::string text = pull_request_comment(report);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 60);
  CHECK(text.find("|  700 | -9.000 us |") != std::string::npos);
  CHECK(text.find("<summary>Ranks that changed most, of 1,024</summary>") != std::string::npos);
  keep_changed_ranks(report, 3);
  CHECK(report.tables[1].table.rows().size() == 3);
  CHECK(report.notes == std::vector<std::string>{"all ranks: --top 0, --format json"});
}

TEST_CASE("ci report: long names fit the limits of services, and keep both ends") {
  const std::string name = "begin" + std::string(100'000, 'x') + "end";
  const Report report = report_of(name, name);
  for (const std::string& text :
       {pull_request_comment(report), junit_report({}, incomparable(), report, false, {}),
        github_annotations({}, incomparable(), report)}) {
    CHECK(text.size() < 5000);
    CHECK(text.find("begin") != std::string::npos);
    CHECK(text.find("end") != std::string::npos);
  }
}

}  // namespace
}  // namespace traceloom
