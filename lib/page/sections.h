// The sections of the page, and what they share: limits, tables, notes, commands, and the tree
// of calls.
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"
#include "page/html/html_writer.h"
#include "run/run.h"
#include "table/table.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The limits that keep a page below 2 MB, whatever the size of the run.

// Names, and devices, streams and counters of a rank: a file of some MB can have a million of them,
// at some KB each.
inline constexpr std::size_t kMostKinds = 50'000;
// Rows of a table, and of one that lists ranks or steps.
inline constexpr std::size_t kMostTableRows = 60;
// Nodes of the tree of calls.
inline constexpr std::size_t kMostTreeNodes = 200;
// Ranks that have a bar of their own.
inline constexpr std::size_t kMostBars = 48;
// Columns over steps, and points of a curve.
inline constexpr std::size_t kMostColumns = 120;
inline constexpr std::size_t kMostCurvePoints = 200;
inline constexpr std::size_t kMostCurves = 12;
// Bytes of the heat map before base64, and its rows and columns.
inline constexpr std::size_t kMostGridBytes = 300'000;
inline constexpr std::size_t kMostGridRows = 1024;
inline constexpr std::size_t kMostGridColumns = 400;
inline constexpr std::size_t kMostGridCells = kMostGridRows * kMostGridColumns;
// Cells of each of the three heat maps of a page of two sides.
inline constexpr std::size_t kMostSideCells = 65'536;
// Ranks of the table of who waits for whom.
inline constexpr std::size_t kMostWaiters = 16;

// All sections of the page share these: their frame, tables of reports, notes, and commands.
//
//   const PageSource source{run, "traces/"};
//   open_section(html, "comm", "Communication");
//   write_tables(html, source, comm_report(source.run, {}), {.command = "comm", .caption =
//   "Collectives"}); html.close();

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

// PageTree: the tree of calls for the page, from a run that was read with frames.
//
//   PageTree tree = make_page_tree(read_run(request_with_frames));
//
// It is made before the run of the other numbers is read: frames would change the role of Python's
// time in them, and both runs would be in memory.

struct PageTree {
  Table table;          // of `trace-stats tree`, one tree for all ranks and threads
  std::string command;  // "tree --by all --min-share 0.2%"
  std::vector<std::string> notes;
};

// Sets what the tree needs of a run.
void prepare_for_page_tree(RunRequest& request);

// Leaves out nodes with small shares, until there are at most so many.
PageTree make_page_tree(const Run& run, std::size_t most_nodes = kMostTreeNodes);

// The sections of the page, in their order. Each writes what is in it, also if the run has nothing
// for it: then it says why.

// What several sections need, computed once.
struct PageFacts {
  std::vector<RankRoles> roles;  // of all steps
  // The rank that the verdict names.
  std::optional<std::int64_t> verdict_rank;
};

// Returns the rank that the verdict names, for PageFacts.
std::optional<std::int64_t> write_overview(HtmlWriter& html, const PageSource& source,
                                           const std::vector<RankRoles>& roles);
void write_time_section(HtmlWriter& html, const PageSource& source, const PageFacts& facts);
void write_comm_section(HtmlWriter& html, const PageSource& source);
void write_device_section(HtmlWriter& html, const PageSource& source);
void write_work_section(HtmlWriter& html, const PageSource& source);
// `tree` is nullptr if the traces could be read only once.
void write_code_section(HtmlWriter& html, const PageSource& source, const PageTree* tree);
void write_timeline_section(HtmlWriter& html, const PageSource& source, const PageFacts& facts);
void write_memory_section(HtmlWriter& html, const PageSource& source);
void write_files_section(HtmlWriter& html, const PageSource& source);
void write_definitions(HtmlWriter& html);

}  // namespace traceloom
