// write_page: one HTML file that shows a run to a person: the verdict first, then where the time
// goes, and a timeline.
//
//   prepare_for_page(request);
//   const std::string html = write_page(read_run(request), {.arguments = "traces/"});
//
// The page needs no network and no other file, and its policy forbids both. It holds the numbers of
// the other commands, each beside the command that prints it. All texts from traces are data.
//
// Size: at most 2 MB for any run (page_limits.h): what is too much is added up, or the largest is
// kept and the page says how much that is. The same run gives the same bytes, whatever the number
// of threads. Cost: that of all commands whose numbers it shows.
#pragma once

#include "page/page_tree.h"
#include "run/run.h"

#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

struct PageOptions {
  // The inputs and the selection as they were typed, for the commands that the page shows:
  // "traces/ --rank 0-3".
  std::string arguments;
  // The tree of calls (page_tree.h); absent if the traces could be read only once.
  std::optional<PageTree> tree = {};
};

// Sets what the page needs of a run: details, samples, and Python's functions of at least 20 us.
void prepare_for_page(RunRequest& request);

std::string write_page(const Run& run, const PageOptions& options);

// Returns the page with a link to `address`, at which ui.perfetto.dev opens the merged trace, in
// the place of the commands that would serve it. A page without a timeline stays as it is.
std::string with_viewer_link(std::string page, std::string_view address);

}  // namespace traceloom
