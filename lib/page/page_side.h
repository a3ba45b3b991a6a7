// PageSide: the sections of a run as HTML, and the numbers of it that a page of two sides compares.
// The run itself need not stay in memory.
//
//   PageSide base = make_page_side(read_run(request), {.side = "base", .name = "base/c0",
//                                                      .arguments = "base/c0"});
//   use(base.sections.at("time"), base.tables.at("steps.summary"));
#pragma once

#include "analysis/waits/step_roles.h"
#include "page/page_parts.h"
#include "page/page_tree.h"
#include "run/run.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

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

}  // namespace traceloom
