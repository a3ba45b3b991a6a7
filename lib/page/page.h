// The page of a run: its frame, its sections as HTML, and the whole of it.
#pragma once

#include "analysis/waits/step_roles.h"
#include "page/html/html_writer.h"
#include "page/sections.h"
#include "run/run.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The frame of a page: its policy, style, contents list, the heads of all sections, and scripts.
//
//   framed_page("Traceloom: traces/", "What limits this run", {{"traces/"}},
//               [&](HtmlWriter& html, std::string_view section) { ... });

// `overview` is the title of the first section. The first of `sources` is that of the page; the
// foot says what the short names of all of them stand for.
std::string framed_page(
    const std::string& title, std::string_view overview, const std::vector<PageSource>& sources,
    const std::function<void(HtmlWriter& html, std::string_view section)>& write_section);

// PageSide: the sections of a run as HTML, and the numbers of it that a page of two sides compares.
// The run itself need not stay in memory.
//
//   PageSide base = make_page_side(read_run(request), {{"base/c0", "base"}, "base/c0"});
//   use(base.sections.at("time"), base.tables.at("steps.summary"));

struct PageSide : PageSource {
  std::string name = {};  // of the capture that is shown
  std::string why = {};   // reason why there are no sections; "" if there are
  std::map<std::string_view, std::string> sections = {};  // by id, without the definitions
  std::vector<RankRoles> roles = {};                      // their sets are empty
  WrittenTables tables = {};
};

// Returns the side, of which only names are known, with its sections.
PageSide make_page_side(const Run& run, PageSide side, const std::optional<PageTree>& tree = {});

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
