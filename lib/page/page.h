// The page of a run: its frame, its sections as HTML, and the whole of it.
#pragma once

#include "analysis/waits/step_roles.h"
#include "page/html/html_writer.h"
#include "page/sections.h"
#include "run/run.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// The frame of a page: its policy, style, contents list and scripts.
//
//   begin_page(html, "Traceloom: traces/", {{"overview", "Overview"}});
//   ...                                                   // the sections
//   end_page(html, "trace-stats report traces/", {});

// `sections` are the id and the short name of each, in their order.
void begin_page(HtmlWriter& html, std::string_view title,
                const std::vector<std::pair<std::string_view, std::string_view>>& sections);
// `short_names` are the names in the page's commands, as "$RUN", and what they stand for.
void end_page(HtmlWriter& html, std::string_view command,
              const std::vector<std::pair<std::string_view, std::string_view>>& short_names);

// PageSide: the sections of a run as HTML, and the numbers of it that a page of two sides compares.
// The run itself need not stay in memory.
//
//   PageSide base = make_page_side(read_run(request), {.side = "base", .name = "base/c0",
//                                                      .arguments = "base/c0"});
//   use(base.sections.at("time"), base.tables.at("steps.summary"));

struct PageSectionName {
  std::string_view id;
  std::string_view name;   // in the contents list
  std::string_view title;  // of the section of one run
};

// All sections of a page, in their order.
inline constexpr PageSectionName kPageSections[] = {
    {"overview", "Overview", "What limits this run"},
    {"time", "Time", "Where the time goes"},
    {"comm", "Communication", "Communication"},
    {"devices", "Devices", "Devices"},
    {"work", "Kernels, operators", "Kernels and operators"},
    {"code", "Calls", "Calls"},
    {"timeline", "Timeline", "Timeline"},
    {"memory", "Memory, host", "Memory and host"},
    {"files", "Clocks, repairs", "Clocks and repairs"},
    {"definitions", "Definitions", "Definitions"},
};

struct PageSideOptions {
  std::string side;       // "base", "new"; "" for the only one
  std::string name;       // of the capture that is shown
  std::string arguments;  // of the commands that print its numbers
  std::optional<PageTree> tree = {};
};

struct PageSide {
  std::string side;
  std::string name;
  std::string arguments;
  std::string why;  // reason why there are no sections; "" if there are
  std::map<std::string_view, std::string> sections;  // by id, without the definitions
  std::vector<RankRoles> roles;                      // their sets are empty
  WrittenTables tables;
};

// The id and the name in the contents list of each section.
std::vector<std::pair<std::string_view, std::string_view>> contents_list();

PageSide make_page_side(const Run& run, const PageSideOptions& options);

// Returns a source without a run, for the commands of a side, or of a page of two sides.
PageSource source_of(const PageSide& side);
PageSource source_without_run(const std::string& arguments, const std::string& side = {});

// Returns what the page's commands name by a short name: "$RUN" and the arguments.
std::vector<std::pair<std::string_view, std::string_view>> short_names(const PageSource& source);

// write_page: one HTML file that shows a run to a person: the verdict first, then where the time
// goes, and a timeline.
//
//   prepare_for_page(request);
//   const std::string html = write_page(read_run(request), {.arguments = "traces/"});
//
// The page needs no network and no other file, and its policy forbids both. It holds the numbers of
// the other commands, each beside the command that prints it. All texts from traces are data.
//
// Size: at most 2 MB for any run (sections.h): what is too much is added up, or the largest is
// kept and the page says how much that is. The same run gives the same bytes, whatever the number
// of threads. Cost: that of all commands whose numbers it shows.

struct PageOptions {
  // The inputs and the selection as they were typed, for the commands that the page shows:
  // "traces/ --rank 0-3".
  std::string arguments;
  // The tree of calls (sections.h); absent if the traces could be read only once.
  std::optional<PageTree> tree = {};
};

// Sets what the page needs of a run: details, samples, and Python's functions of at least 20 us.
void prepare_for_page(RunRequest& request);

std::string write_page(const Run& run, const PageOptions& options);

// Returns the page with a link to `address`, at which ui.perfetto.dev opens the merged trace, in
// the place of the commands that would serve it. A page without a timeline stays as it is.
std::string with_viewer_link(std::string page, std::string_view address);

}  // namespace traceloom
