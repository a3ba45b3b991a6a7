#include "comparison/compare_report.h"

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
  const std::string text =
      junit_report({}, incomparable(), report_of(kHostile, kHostile + "\xef\xbf\xbe"), false);
  CHECK_FALSE(has_control(text));
  CHECK(text.find("message=\"a\\x1b[31m\\n::error::&lt;b&gt; ]]&gt; 5% \xef\xbf\xbd") !=
        std::string::npos);
  CHECK(text.find("\xef\xbf\xbf") == std::string::npos);
  CHECK(text.find("\xef\xbf\xbe") == std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
}

TEST_CASE("ci report: long names fit the limits of services, and keep both ends") {
  const std::string name = "begin" + std::string(100'000, 'x') + "end";
  const Report report = report_of(name, name);
  for (const std::string& text :
       {pull_request_comment(report), junit_report({}, incomparable(), report, false),
        github_annotations({}, incomparable(), report)}) {
    CHECK(text.size() < 5000);
    CHECK(text.find("begin") != std::string::npos);
    CHECK(text.find("end") != std::string::npos);
  }
}

}  // namespace
}  // namespace traceloom
