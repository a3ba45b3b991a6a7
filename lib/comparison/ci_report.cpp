#include "base/units.h"
#include "comparison/comparison.h"
#include "table/table.h"
#include "table/table_formats.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

constexpr std::size_t kLeastRows = 3;
constexpr std::size_t kMostRows = 20;
// Services refuse long texts: GitHub takes 65,536 characters for a comment. Both ends of a name
// stay.
constexpr std::size_t kLongestName = 120;
constexpr std::size_t kLongestSentence = 1000;

// One thing that is judged.
struct Check {
  std::string name;
  ChangeKind kind = ChangeKind::ok;
  std::string text;
};

std::vector<Check> checks_of(const CompareOptions& options, const Comparison& found,
                             const Report& report) {
  if (found.kind == ChangeKind::incomparable)
    return {{"sides", found.kind, report.headline.front()}};
  std::vector<Check> checks;
  const bool has_step_gate = std::any_of(options.gates.begin(), options.gates.end(), is_step_gate);
  if (!has_step_gate) {
    const ChangeKind kind = found.judgement ? found.judgement->kind : ChangeKind::inconclusive;
    const bool is_verdict = kind == found.kind || report.headline.size() < 2;
    checks.push_back({"step", kind, report.headline[is_verdict ? 0 : 1]});
  }
  for (std::size_t i = 0; i < found.gates.size(); ++i)
    checks.push_back({options.gates[i].text, found.gates[i].kind, found.gates[i].why});
  return checks;
}

std::string_view level_of(ChangeKind kind) {
  if (kind == ChangeKind::inconclusive) return "warning";
  return kind == ChangeKind::regression || kind == ChangeKind::incomparable ? "error" : "notice";
}

std::string short_sentence(std::string_view text) {
  return shorten_middle(one_line(text), kLongestSentence);
}

// The text of a command is one line, in which GitHub reads %0A as a line break.
std::string annotation_text(std::string_view text) {
  std::string escaped;
  for (const char letter : short_sentence(text))
    escaped += letter == '%' ? "%25" : std::string(1, letter);
  return escaped;
}

std::string annotation(ChangeKind kind, std::string_view text) {
  return fmt::format("::{} title=trace-stats compare::{}\n", level_of(kind), annotation_text(text));
}

// XML has no way to write control characters, nor U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string escaped = markup_text(printable_lines(text));
  for (const std::string_view refused : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = escaped.find(refused); at != std::string::npos;
         at = escaped.find(refused, at))
      escaped.replace(at, refused.size(), "\xef\xbf\xbd");  // U+FFFD
  return escaped;
}

std::string xml_case(const Check& check, bool passes_inconclusive) {
  const std::string begin =
      fmt::format("    <testcase classname=\"trace-stats.compare\" name=\"{}\" time=\"0\"",
                  xml_text(short_sentence(check.name)));
  const bool is_unclear = check.kind == ChangeKind::inconclusive;
  if (check.kind == ChangeKind::ok || check.kind == ChangeKind::improvement) return begin + "/>\n";
  const std::string message = xml_text(short_sentence(check.text));
  if (is_unclear && passes_inconclusive)
    return fmt::format("{}><skipped message=\"{}\"/></testcase>\n", begin, message);
  const std::string_view element = check.kind == ChangeKind::incomparable ? "error" : "failure";
  return fmt::format("{}><{} type=\"{}\" message=\"{}\"/></testcase>\n", begin, element,
                     to_string(check.kind), message);
}

// Returns the report with names and sentences that a service takes.
Report shortened(const Report& report) {
  Report cut = report;
  for (ReportTable& part : cut.tables) part.table.shorten_texts(kLongestName);
  for (std::vector<std::string>* const lines : {&cut.headline, &cut.notes})
    for (std::string& line : *lines) line = short_sentence(line);
  return cut;
}

std::string comment_with_rows(const Report& report, std::size_t rows) {
  Report cut = shortened(report);
  keep_changed_ranks(cut, rows);
  bool is_cut = false;
  for (ReportTable& part : cut.tables) {
    is_cut |= part.table.rows().size() > rows;
    part.table.cut_to(rows);
  }
  if (is_cut)
    cut.notes.push_back(
        fmt::format("tables show their first {} rows; --format json has all", rows));
  return render_report(cut, TableFormat::md, {});
}

}  // namespace

std::string pull_request_comment(const Report& report) {
  for (std::size_t rows = kMostRows; rows > kLeastRows; --rows) {
    std::string text = comment_with_rows(report, rows);
    if (static_cast<std::size_t>(std::ranges::count(text, '\n')) <= kCommentLines) return text;
  }
  return comment_with_rows(report, kLeastRows);
}

std::string github_annotations(const CompareOptions& options, const Comparison& found,
                               const Report& report) {
  std::string text = annotation(found.kind, report.headline.front());
  for (const Check& check : checks_of(options, found, report)) {
    const bool is_said = report.headline.front().ends_with(check.text);
    if (!is_said && level_of(check.kind) != "notice")
      text += annotation(check.kind, fmt::format("{}: {}", to_string(check.kind), check.text));
  }
  return text;
}

std::string junit_report(const CompareOptions& options, const Comparison& found,
                         const Report& report, bool passes_inconclusive,
                         const JUnitOrigin& origin) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  const std::vector<Check> checks = checks_of(options, found, report);
  for (const Check& check : checks) {
    cases += xml_case(check, passes_inconclusive);
    const bool is_unclear = check.kind == ChangeKind::inconclusive;
    errors += check.kind == ChangeKind::incomparable ? 1 : 0;
    skipped += is_unclear && passes_inconclusive ? 1 : 0;
    failures += check.kind == ChangeKind::regression || (is_unclear && !passes_inconclusive);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"trace-stats compare\" package=\"trace-stats\" id=\"0\" "
      "timestamp=\"{:%FT%T}\" hostname=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"0\">\n    <properties/>\n{}    <system-out>{}</system-out>\n"
      "    <system-err/>\n  </testsuite>\n</testsuites>\n",
      fmt::gmtime(origin.seconds), origin.host.empty() ? "localhost" : xml_text(origin.host),
      checks.size(), failures, errors, skipped, cases,
      xml_text(render_report(shortened(report), TableFormat::text, {.width = kLogWidth})));
}

}  // namespace traceloom
