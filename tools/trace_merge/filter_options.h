// The options of trace-merge that choose what is kept, and what there is to say of the choice.
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

// What was typed.
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

// Throws UsageError that names the option and what to try.
MergeFilter read_filter(const FilterOptions& options);

// What a filter asks for and no input has, a sentence each: a rank, a category.
std::vector<std::string> unmet_wishes(const MergeFilter& filter, const FilterOutcome& outcome);

// Why nothing may be left, and what to try.
std::string explain_nothing_left(const MergeFilter& filter, const MergeSummary& summary);

}  // namespace traceloom
