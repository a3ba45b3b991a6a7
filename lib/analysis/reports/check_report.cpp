#include "analysis/reports/check_report.h"

#include "analysis/reports/info_report.h"
#include "output/json_writer.h"

#include <fmt/format.h>

#include <string_view>

namespace traceloom {
namespace {

std::string_view severity_name(Severity severity) {
  static constexpr std::string_view kNames[] = {"info", "notice", "loss"};
  return kNames[static_cast<std::size_t>(severity)];
}

void add_problems(Table& table, const RunFile& file, const ProblemCounts& problems,
                  Severity severity) {
  for (const Problem problem : problems.kinds()) {
    const ProblemKind& kind = describe(problem);
    if (kind.severity != severity) continue;
    std::string sentence(kind.sentence);
    if (!problems.explanation(problem).empty())
      sentence += fmt::format(" ({})", problems.explanation(problem));
    table.add_row({file.path, std::string(severity_name(severity)), std::string(kind.name),
                   static_cast<std::int64_t>(problems.count(problem)),
                   static_cast<std::int64_t>(problems.first_offset(problem)), sentence});
  }
}

}  // namespace

CheckAnswer check_report(const Run& run) {
  Table table({{"file", "File", ColumnKind::text},
               {"severity", "Severity", ColumnKind::text, Readers::most},
               {"kind", "Kind", ColumnKind::text},
               {"count", "Count", ColumnKind::count},
               {"first_offset", "First byte", ColumnKind::count, Readers::most},
               {"sentence", "What", ColumnKind::text, Readers::some}});
  std::int64_t with_loss = 0;
  std::int64_t with_problems = 0;
  for (const RunFile& file : run.files) {
    const bool loss = !file.error.empty() || file.problems.has_loss();
    with_loss += loss ? 1 : 0;
    with_problems += loss || !file.problems.empty() || !file.clock_problems.empty() ? 1 : 0;
    if (!file.error.empty())
      table.add_row({file.path, std::string("error"), Cell{}, Cell{}, Cell{}, file.error});
  }
  for (const Severity severity : {Severity::loss, Severity::notice, Severity::info})
    for (const RunFile& file : run.files) {
      add_problems(table, file, file.problems, severity);
      add_problems(table, file, file.clock_problems, severity);
    }
  CheckAnswer answer{Report("check", run), with_loss > 0};
  std::string verdict;
  JsonWriter json(verdict);
  json.begin_object();
  json.key("files");
  json.value(run.files.size());
  json.key("with_loss");
  json.value(with_loss);
  json.key("with_problems");
  json.value(with_problems);
  json.end_object();
  answer.report.values.emplace_back("verdict", verdict);
  answer.report.headline.push_back(fmt::format("{}: {} with loss, {} with problems",
                                               count_of(run.files.size(), "file"), with_loss,
                                               with_problems));
  answer.report.tables.push_back({"rows", "", std::move(table)});
  add_clocks(run, answer.report);
  return answer;
}

}  // namespace traceloom
