// All sections of the page share these: their frame, tables of reports, notes, and commands.
//
//   const PageSource source{run, "traces/"};
//   open_section(html, "comm", "Communication");
//   write_tables(html, source, comm_report(source.run, {}), {.command = "comm", .caption =
//   "Collectives"}); html.close();
#pragma once

#include "analysis/report.h"
#include "page/html/html_writer.h"
#include "page/page_limits.h"
#include "run/run.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The tables that sections have written, by "steps.summary".
using WrittenTables = std::map<std::string, Table>;

struct PageSource {
  const Run& run;
  std::string arguments;
  // "base" or "new" on a page of two sides: ids begin with it, and each side has half the room.
  std::string side = {};
  WrittenTables* written = nullptr;  // keeps a copy of all tables

  std::string id(std::string_view name) const;
  std::size_t room(std::size_t most) const { return side.empty() ? most : most / 2; }
  // Arguments that would fill a line of the page have this name; the foot of the page says what it
  // stands for.
  std::string_view short_arguments() const;
  bool are_arguments_long() const { return arguments.size() > 60; }
  // Returns "trace-stats steps traces/ --rank 0-3".
  std::string command(std::string_view words, std::string_view tool = "trace-stats") const;
};

// The caller closes the section.
void open_section(HtmlWriter& html, std::string_view id, std::string_view title);

struct TablesLook {
  std::string_view command;  // of trace-stats, with its options
  std::string caption;       // of a table that has no title
  std::size_t rows = kMostTableRows;
};

// Writes the tables of a report that have rows, and its notes.
void write_tables(HtmlWriter& html, const PageSource& source, const Report& report,
                  const TablesLook& look);

void write_notes(HtmlWriter& html, const std::vector<std::string>& notes);

struct PageDefinition {
  std::string_view term;
  std::string_view text;
};

void write_definition_list(HtmlWriter& html, std::span<const PageDefinition> definitions);

// Writes a command below a figure.
void write_command(HtmlWriter& html, const PageSource& source, std::string_view words);

}  // namespace traceloom
