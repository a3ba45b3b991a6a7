// Report: the answer of an analysis, which can be shown as text, CSV, JSON or Markdown.
//
//   Report report("steps", run);
//   report.notes.push_back("no device activity in these traces: host roles only");
//   report.tables.push_back({"rows", "", table});
//   std::string text = render_report(report, TableFormat::text, {});
//
// This is the JSON document; later versions only add keys:
//   {"schema_version":1,"command":"steps","files":[{"path","rank","ranks","events","text_bytes",
//    "error"}], <the values and tables of the report>,"notes":["..."],
//    "problems":[{"file","kind","count","first_offset"}]}
#pragma once

#include "base/units.h"
#include "run/run.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// A part of a report; the most important part comes first.
struct ReportTable {
  std::string key;    // key in JSON
  std::string title;  // title for people; empty if it needs none
  Table table;
  bool is_folded = false;  // Markdown shows the title alone until the reader unfolds it
  // The column whose largest numbers stay if rows are left out; "": the first rows stay.
  std::string kept_by = {};
  std::size_t most_for_people = 0;  // rows that people see; 0: all
};

struct Report {
  Report(std::string command_name, const Run& run)
      : command(std::move(command_name)), files(run.files) {}

  std::string command;
  std::vector<RunFile> files;
  std::vector<std::string> headline;  // lines before the tables; `values` holds their facts
  std::vector<std::pair<std::string, std::string>> values;  // key and JSON
  std::vector<ReportTable> tables;                          // CSV shows the first one
  std::vector<std::string> notes;                           // reasons for values that are not known
  bool is_unknown = false;  // what was asked, or a gate, cannot be told: exit code 2
};

// Notes about ranks. A note that holds for several ranks appears once: "ranks 0-3,7: no spans that
// could be a step". Notes stand in the order in which they were first added.
class RankNotes {
 public:
  // Ranks must ascend; adding a rank twice has no effect.
  void add(std::int64_t rank, const std::string& what);
  void append_to(Report& report) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> notes_;
};

// The text ends with a newline.
std::string render_report(const Report& report, TableFormat format, const TextStyle& style);

}  // namespace traceloom
