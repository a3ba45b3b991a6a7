// Report: the answer of an analysis, ready to be shown as text, CSV, JSON or Markdown.
//
//   Report report("steps", run);
//   report.notes.push_back("no device activity in these traces: host roles only");
//   report.tables.push_back({"rows", "", table});
//   std::string text = render_report(report, TableFormat::text, {});
//
// The JSON document, of which keys are only ever added:
//   {"schema_version":1,"command":"steps","files":[{"path","rank","ranks","events","text_bytes",
//    "error"}], <the values and tables of the report>,"notes":["..."],
//    "problems":[{"file","kind","count","first_offset"}]}
#pragma once

#include "run/run.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// A part of a report, the most important first.
struct ReportTable {
  std::string key;    // in JSON
  std::string title;  // for people; none where it needs none
  Table table;
};

struct Report {
  Report(std::string command_name, const Run& run)
      : command(std::move(command_name)), files(run.files) {}

  std::string command;
  std::vector<RunFile> files;
  std::vector<std::string> headline;  // for people, before the tables; its facts are in `values`
  std::vector<std::pair<std::string, std::string>> values;  // key and JSON
  std::vector<ReportTable> tables;                          // CSV has the first one
  std::vector<std::string> notes;                           // what could not be told, and why
};

// Notes about ranks, which say once what is the same of several: "ranks 0-3,7: no spans that could
// be a step". In the order in which they were first said.
class RankNotes {
 public:
  // Ranks ascend; one said twice counts once.
  void add(std::int64_t rank, const std::string& what);
  void append_to(Report& report) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> notes_;
};

// "rank 2", "ranks 0-3,7"; `ranks` ascend.
std::string ranks_text(const std::vector<std::int64_t>& ranks);

// "1 file", "4 files", "14,052 events".
std::string count_of(std::uint64_t number, std::string_view noun);

// Nothing where there is no whole.
Cell share_cell(std::int64_t part, std::int64_t all);

// Ends with a newline.
std::string render_report(const Report& report, TableFormat format, const TextStyle& style);

}  // namespace traceloom
