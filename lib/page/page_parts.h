// All sections of the page share these: their frame, tables of reports, notes, and commands.
//
//   open_section(html, "comm", "Communication");
//   write_tables(html, source, comm_report(source.run, {}), {.command = "comm", .caption =
//   "Collectives"}); html.close();
#pragma once

#include "analysis/report.h"
#include "page/html/html_writer.h"
#include "page/page_limits.h"
#include "run/run.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct PageSource {
  const Run& run;
  std::string arguments;

  // Arguments that would fill a line of the page have this name; the foot of the page says what it
  // stands for.
  static constexpr std::string_view kShortArguments = "$RUN";
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

// Writes the section "definitions".
void write_definition_list(HtmlWriter& html, std::span<const PageDefinition> definitions);

// Writes a command below a figure.
void write_command(HtmlWriter& html, const PageSource& source, std::string_view words);

}  // namespace traceloom
