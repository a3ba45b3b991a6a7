// The command line of trace-merge, with the options that select events.
#pragma once

#include "common/serve.h"
#include "common/terminal.h"
#include "merge/merger.h"
#include "trace_merge/recover_inputs.h"

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
// The options of trace-merge that select events, and the messages about what they select.
//
//   FilterOptions typed;
//   add_filter_options(app, typed);
//   ... parse ...
//   command.merge.filter = read_filter(typed);

class App;
}  // namespace CLI

namespace traceloom {

inline constexpr std::string_view kTool = "trace-merge";  // in its messages

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

// Reads the command line of trace-merge.

struct MergeCommand {
  MergeOptions merge;
  std::string report;  // the file for the report; empty if none is wanted
  bool strict = false;
  bool critical_path = false;          // add that row: see added_rows.h
  std::vector<OtherFile> memory = {};  // files beside the traces that may be allocator snapshots
  Serving serving;                     // an empty output is served and not kept
  std::vector<KeptJournal> kept_journals;  // journals that --recover could not use
  Verbosity verbosity = Verbosity::normal;
};

// Returns false if there is nothing to merge: only the help or the version was asked for, or
// --recover found nothing, or no output is named for it. With --recover it first recovers traces
// and reports them, and then looks for inputs. Throws UsageError.
bool read_command_line(int argc, const char* const* argv, MergeCommand& command);

}  // namespace traceloom
