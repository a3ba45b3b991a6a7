#include "page/page_tree.h"

#include "analysis/reports/tree_report.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

TreeReportOptions options_for(double share) {
  TreeReportOptions options;
  options.min_share = share;
  options.tree.by_rank = false;
  options.tree.by_thread = false;
  return options;
}

PageTree tree_of(const Run& run, const TreeReportOptions& options, std::string command) {
  Report report = tree_report(run, options);
  return {std::move(report.tables.front().table), std::move(command), std::move(report.notes)};
}

}  // namespace

void prepare_for_page_tree(RunRequest& request) {
  request.details = true;
  request.frames = true;
  request.samples = false;
  request.python = false;
}

PageTree make_page_tree(const Run& run, std::size_t most_nodes) {
  for (const double share : {0.002, 0.005, 0.01, 0.02, 0.05}) {
    PageTree tree = tree_of(run, options_for(share),
                            fmt::format("tree --by all --min-share {:g}%", 100 * share));
    if (tree.table.rows().size() <= most_nodes) return tree;
  }
  // A stack of thousands of calls, each with all the time.
  TreeReportOptions options = options_for(0.1);
  options.depth = most_nodes / 10;
  PageTree tree =
      tree_of(run, options, fmt::format("tree --by all --min-share 10% --depth {}", options.depth));
  tree.table.cut_to(most_nodes);
  return tree;
}

}  // namespace traceloom
