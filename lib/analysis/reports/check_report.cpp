#include "analysis/reports/reports.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace traceloom {
namespace {

std::string_view severity_name(Severity severity) {
  return name_in({"info", "notice", "loss"}, severity);
}

struct ProblemRow {
  std::string_view file;
  std::string_view severity;
  Cell kind;
  Cell count;
  Cell first_offset;
  std::string sentence;
};

void add_problems(std::vector<ProblemRow>& rows, const RunFile& file, const ProblemCounts& problems,
                  Severity severity) {
  for (const Problem problem : problems.kinds()) {
    const ProblemKind& kind = describe(problem);
    if (kind.severity != severity) continue;
    std::string sentence(kind.sentence);
    if (!problems.explanation(problem).empty())
      sentence += fmt::format(" ({})", problems.explanation(problem));
    rows.push_back({file.path, severity_name(severity), to_cell(kind.name),
                    to_cell(problems.count(problem)), to_cell(problems.first_offset(problem)),
                    std::move(sentence)});
  }
}

Table rows_table(const std::vector<ProblemRow>& rows) {
  using enum ColumnKind;
  using enum Readers;
  using Row = ProblemRow;
  const ColumnsOf<Row> columns{
      {"file", "File", text, &Row::file},
      {"severity", "Severity", text, most, &Row::severity},
      {"kind", "Kind", text, &Row::kind},
      {"count", "Count", count, &Row::count},
      {"first_offset", "First byte", count, most, &Row::first_offset},
      {"sentence", "What", text, some, &Row::sentence},
  };
  return make_table(rows, columns);
}

}  // namespace

CheckAnswer check_report(const Run& run) {
  std::vector<ProblemRow> rows;
  std::int64_t with_loss = 0;
  std::int64_t with_problems = 0;
  for (const RunFile& file : run.files) {
    const bool loss = !file.error.empty() || file.problems.has_loss();
    with_loss += loss ? 1 : 0;
    with_problems += loss || !file.problems.empty() || !file.clock_problems.empty() ? 1 : 0;
    if (!file.error.empty()) rows.push_back({file.path, "error", {}, {}, {}, file.error});
  }
  for (const Severity severity : {Severity::loss, Severity::notice, Severity::info})
    for (const RunFile& file : run.files) {
      add_problems(rows, file, file.problems, severity);
      add_problems(rows, file, file.clock_problems, severity);
    }
  CheckAnswer answer{Report("check", run), with_loss > 0};
  answer.report.values.emplace_back(
      "verdict", json_object("files", run.files.size(), "with_loss", with_loss, "with_problems",
                             with_problems));
  answer.report.headline.push_back(fmt::format("{}: {} with loss, {} with problems",
                                               count_of(run.files.size(), "file"), with_loss,
                                               with_problems));
  answer.report.tables.push_back({"rows", "", rows_table(rows)});
  add_clocks(run, answer.report);
  return answer;
}

}  // namespace traceloom
