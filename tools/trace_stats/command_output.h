// Where the text of a command goes, and what is said beside it: the same for all commands.
#pragma once

#include "base/error.h"
#include "base/problems.h"
#include "common/report_problems.h"
#include "input/input_list.h"
#include "table/table.h"

#include <string>
#include <vector>

namespace traceloom {

// For what is written to `output`: as wide as the terminal, with names cut and in colour; where it
// is none, 120 wide with names as they are, so that what a file holds depends on no terminal.
TextStyle text_style(const std::string& output, bool wide);

// To a file, packed if its name ends so, or to stdout ("-"). A closed pipe is no error: the answer
// is known by then. Text `for_people` is safe for a terminal; other text is made so for one.
void write_output(const std::string& path, const std::string& text, bool for_people);

// Notes on stderr what was wrong with an input; `error` says why it was left out, if it was. True
// when something that it said is missing.
bool report_file(const std::string& path, const std::string& error, const ProblemCounts& problems,
                 Verbosity verbosity);

// The same for all inputs (FileFacts). Throws UsageError when none of them could be
// read.
template <typename File>
bool report_files(const std::vector<File>& files, Verbosity verbosity) {
  bool loss = false;
  bool any = false;
  for (const File& file : files) {
    loss |= report_file(file.path, file.error, file.problems, verbosity);
    any |= file.error.empty();
  }
  if (!any) throw UsageError("none of the inputs is a trace");
  return loss;
}

// Throws UsageError when `output` is one of the inputs.
void refuse_input_as_output(const std::vector<Input>& inputs, const std::string& output);

}  // namespace traceloom
