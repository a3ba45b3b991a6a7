#include "trace_merge/recover_inputs.h"

#include "base/problems.h"
#include "base/units.h"
#include "input/input_list.h"
#include "record/journal/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// Returns the folder and all readable folders below it.
std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> folders{folder};
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied,
                                           error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;  // an entry that cannot be examined is no folder
    if (!entries->is_directory(ignored) || entries->is_symlink(ignored)) continue;
    if (entries->path().filename().string().starts_with('.'))
      entries.disable_recursion_pending();
    else
      folders.push_back(entries->path());
  }
  std::sort(folders.begin(), folders.end(), natural_less);
  return folders;
}

bool is_folder(const std::string& argument) {
  std::error_code ignored;  // the merge reports inputs that cannot be read
  return fs::is_directory(argument, ignored);
}

// Returns whether the folder has anything to merge.
bool has_traces(const std::string& folder) {
  try {
    return !expand_inputs({folder}).empty();
  } catch (const Error&) {
    return false;
  }
}

std::string words_of(const record::RecoveredTrace& trace) {
  if (trace.path.empty())
    return fmt::format("{}: holds nothing that the trace lacks", trace.journal);
  return fmt::format("{}: completed with {} of {}{}", trace.path, count_of(trace.events, "event"),
                     trace.journal, record::words_of_loss(trace));
}

void report_journal(const record::RecoveredTrace& trace, RecoveredInputs& result) {
  if (trace.problem.empty()) {
    result.notes.push_back(words_of(trace));
  } else if (trace.is_foreign) {  // this user loses nothing
    result.notes.push_back(record::words_of_problem(trace));
  } else {
    result.problems.push_back(record::words_of_problem(trace));
    result.kept.push_back({trace.journal, trace.problem});
  }
}

// Appends the traces that no argument stands for.
void add_traces(const std::vector<std::string>& traces, std::vector<std::string>& arguments) {
  std::vector<Input> inputs;
  if (!arguments.empty() && !traces.empty()) inputs = expand_inputs(arguments);
  for (const std::string& trace : traces) {
    const bool is_among = std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) {
      return same_file(input.path, trace);
    });
    if (is_among) continue;
    arguments.push_back(trace);
    inputs.push_back({trace, std::nullopt});
  }
}

}  // namespace

RecoveredInputs recover_inputs(const std::vector<std::string>& arguments) {
  if (std::none_of(arguments.begin(), arguments.end(), is_folder))
    throw UsageError(
        "--recover: no input is a folder; name the one that holds the journals, and the traces");
  std::vector<std::string> named;
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(named), is_folder);
  RecoveredInputs result;
  std::vector<std::string> traces;
  std::vector<std::string> empty;  // folders without a journal and without a trace
  for (const std::string& argument : arguments) {
    bool had_journals = false;
    const std::vector<std::string> folders =
        is_folder(argument) ? folders_in(argument) : std::vector<std::string>();
    for (const std::string& folder : folders) {
      for (const record::RecoveredTrace& trace : record::recover_journals(folder, named)) {
        had_journals = true;
        report_journal(trace, result);
        if (!trace.path.empty()) traces.push_back(trace.path);
      }
    }
    if (!is_folder(argument) || has_traces(argument))
      result.arguments.push_back(argument);
    else if (!had_journals)
      empty.push_back(argument);
  }
  if (result.notes.empty() && result.problems.empty())
    result.notes.emplace_back("--recover: found no journal of a dead process");
  if (!result.arguments.empty())
    for (const std::string& folder : empty)
      result.notes.push_back(fmt::format("--recover: no trace in {}", folder));
  add_traces(traces, result.arguments);
  if (result.arguments.empty()) result.arguments = arguments;
  result.has_nothing =
      result.problems.empty() && std::none_of(result.arguments.begin(), result.arguments.end(),
                                              [](const std::string& argument) {
                                                return !is_folder(argument) || has_traces(argument);
                                              });
  return result;
}

}  // namespace traceloom
