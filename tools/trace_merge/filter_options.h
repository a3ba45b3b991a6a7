// The options of trace-merge that select events, and the messages about what they select.
//
//   FilterOptions typed;
//   add_filter_options(app, typed);
//   ... parse ...
//   command.merge.filter = read_filter(typed);
#pragma once

#include "merge/merger.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace traceloom {

// The options as they were typed.
struct FilterOptions {
  std::string ranks;
  std::string time;
  std::string steps;
  std::vector<std::string> categories;
  std::vector<std::string> excluded_categories;
  std::vector<std::string> names;
  std::vector<std::string> excluded_names;
  std::string min_duration;
};

void add_filter_options(CLI::App& app, FilterOptions& options);

// Throws a UsageError that names the option and what to try.
MergeFilter read_filter(const FilterOptions& options);

// Returns a sentence for each rank and category that the filter names and no input has.
std::vector<std::string> unmet_wishes(const MergeFilter& filter, const FilterOutcome& outcome);

// Returns the probable reason why the filter left no event, and what to try.
std::string explain_nothing_left(const MergeFilter& filter, const MergeSummary& summary);

}  // namespace traceloom
