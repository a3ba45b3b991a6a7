// The sections of the page, and what they share: limits, tables, notes, commands, and the tree
// of calls.
#pragma once

#include "analysis/collectives/collectives.h"
#include "analysis/report.h"
#include "analysis/reports/reports.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "page/html/figures.h"
#include "page/html/html_writer.h"
#include "page/step_grid.h"
#include "page/timeline/timeline.h"
#include "run/run.h"
#include "table/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// The limits that keep a page below 2 MB, whatever the size of the run.

// Names, and devices, streams and counters of a rank: a file of some MB can have a million of them,
// at some KB each.
inline constexpr std::size_t kMostKinds = 50'000;
// Rows of a table, and of one that lists ranks or steps.
inline constexpr std::size_t kMostTableRows = 60;
// Nodes of the tree of calls, and ranks that have one of half as many for themselves.
inline constexpr std::size_t kMostTreeNodes = 200;
inline constexpr std::size_t kMostTreeRanks = 8;
// Ranks that have a bar of their own.
inline constexpr std::size_t kMostBars = 48;
// Columns over steps, and points of a curve.
inline constexpr std::size_t kMostColumns = 120;
inline constexpr std::size_t kMostCurvePoints = 200;
inline constexpr std::size_t kMostCurves = 12;
// Bytes of the names that the page's search knows.
inline constexpr std::size_t kMostNamesBytes = 200'000;
// Bytes of the heat map before base64, and its rows and columns.
inline constexpr std::size_t kMostGridBytes = 300'000;
inline constexpr std::size_t kMostGridRows = 260;
inline constexpr std::size_t kMostGridColumns = 400;
inline constexpr std::size_t kMostGridCells = kMostGridRows * kMostGridColumns;
// Cells of each of the three heat maps of a page of two sides.
inline constexpr std::size_t kMostSideCells = 65'536;
// Ranks of the table of who waits for whom.
inline constexpr std::size_t kMostWaiters = 16;

// PageSource: the names that a page has for a run, without the run itself.
//
//   write_command(html, PageSource{"traces/ --rank 0-3"}, "steps");

struct PageSource {
  std::string arguments;  // of the commands that print its numbers
  // "base" or "new" on a page of two sides: ids begin with it, and each side has half the room.
  std::string side = {};

  std::string id(std::string_view name) const;
  std::size_t room(std::size_t most) const { return side.empty() ? most : most / 2; }
  // Arguments that would fill a line of the page have this name; the foot of the page says what it
  // stands for.
  std::string_view short_arguments() const;
  bool are_arguments_long() const { return arguments.size() > 60; }
  // Returns "trace-stats steps traces/ --rank 0-3".
  std::string command(std::string_view words, std::string_view tool = "trace-stats") const;
};

// Writes a command below a figure.
void write_command(HtmlWriter& html, const PageSource& source, std::string_view words);

void write_notes(HtmlWriter& html, const std::vector<std::string>& notes);

struct PageDefinition {
  std::string_view term;
  std::string_view text;
};

void write_definition_list(HtmlWriter& html, std::span<const PageDefinition> definitions);

// A canvas that the page's script draws, and the line below it that says what is pointed at.
struct PageCanvas {
  std::string id;
  std::string status_id;
  std::string_view look;  // a class of page.css: "heat-map", "flame", "timeline"
  std::string_view side;
  std::string words;  // for whoever cannot see it
};

void write_canvas(HtmlWriter& html, const PageCanvas& canvas);

// Writes a list to choose from: values, and what readers see of them.
void write_choice(HtmlWriter& html, std::string_view label, const std::string& id,
                  const std::vector<std::pair<std::string, std::string_view>>& choices);

// The names of the roles that take time.
std::vector<std::string_view> role_names(const RoleTimes& times);

// Returns a bar of `total_ns`, split into roles, in a figure that is `room_ns` wide.
Bar role_bar(std::string label, const RoleTimes& roles, std::int64_t total_ns,
             std::int64_t room_ns);

// Keeps the `most` largest rows, the largest first. Returns false, and leaves all in their order,
// if there are no more.
template <typename Row, typename Size>
bool keep_largest(std::vector<Row>& rows, std::size_t most, Size size_of) {
  if (rows.size() <= most) return false;
  std::ranges::stable_sort(rows, std::greater(), size_of);
  rows.resize(most);
  return true;
}

// PageTree: the tree of calls for the page.
//
//   prepare_for_page(request);
//   Run run = read_run(request);
//   const PageTree tree = take_page_tree(run);

struct PageTree {
  Table table = Table({});   // of `trace-stats tree`, one tree for all ranks and threads
  std::string command = {};  // "tree --by all --min-share 0.2%"
  std::vector<std::string> notes = {};
  std::shared_ptr<const CallTree> calls = {};  // of which it is made
};

// Drops the frames that only the tree needs from the run.
PageTree take_page_tree(Run& run, std::size_t most_nodes = kMostTreeNodes);
// Leaves out nodes with small shares, until there are at most so many.
PageTree page_tree_of(const Run& run, const CallTree& calls, std::size_t most_nodes);

// PageRun: a run as its sections show it, with what several of them need.
//
//   write_tables(html, page, comm_report(page.run, {}), "Collectives by kind");

// The tables that sections have written, by "steps.summary".
using WrittenTables = std::map<std::string, Table>;

struct PageRun : PageSource {
  const Run& run;
  const PageTree& tree;
  const MemoryFiles& memory;
  std::vector<RankRoles> roles;  // of all steps
  const MatchedCollectives& collectives;
  RankWaits waits;  // in the steps of the main phase
  StepGrid grid;    // the heat map, whose steps the timeline has
  BottleneckAnswer bottleneck;
  WrittenTables* written = nullptr;  // keeps a copy of all tables
  PageNames* names = nullptr;        // of the search, which the timeline names by their places
};

// What the page talks of.
PagePlaces places_of(const PageRun& page);

// Writes the tables of a report that have rows, and its notes. `caption` is that of a table without
// a title.
void write_tables(HtmlWriter& html, const PageRun& page, const Report& report,
                  const std::string& caption, std::size_t most_rows = kMostTableRows);

// The sections of the page, in their order. Each writes what is in it, also if the run has nothing
// for it: then it says why.

void write_overview(HtmlWriter& html, const PageRun& page);
void write_time_section(HtmlWriter& html, const PageRun& page);
void write_comm_section(HtmlWriter& html, const PageRun& page);
void write_job_section(HtmlWriter& html, const PageRun& page);
void write_device_section(HtmlWriter& html, const PageRun& page);
void write_work_section(HtmlWriter& html, const PageRun& page);
void write_code_section(HtmlWriter& html, const PageRun& page);
void write_timeline_section(HtmlWriter& html, const PageRun& page);
void write_memory_section(HtmlWriter& html, const PageRun& page);
void write_files_section(HtmlWriter& html, const PageRun& page);
void write_definitions(HtmlWriter& html);

}  // namespace traceloom
