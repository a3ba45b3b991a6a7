// PageTree: the tree of calls for the page, from a run that was read with frames.
//
//   PageTree tree = make_page_tree(read_run(request_with_frames));
//
// It is made before the run of the other numbers is read: frames would change the role of Python's
// time in them, and both runs would be in memory.
#pragma once

#include "page/page_limits.h"
#include "run/run.h"
#include "table/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

struct PageTree {
  Table table;          // of `trace-stats tree`, one tree for all ranks and threads
  std::string command;  // "tree --by all --min-share 0.2%"
  std::vector<std::string> notes;
};

// Sets what the tree needs of a run.
void prepare_for_page_tree(RunRequest& request);

// Leaves out nodes with small shares, until there are at most so many.
PageTree make_page_tree(const Run& run, std::size_t most_nodes = kMostTreeNodes);

}  // namespace traceloom
