// Writes the output of a command and its messages, in the same way for all commands.
#pragma once

#include "base/problems.h"
#include "common/terminal.h"
#include "input/input_list.h"
#include "table/table.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace traceloom {

// Every command that prints tables has these options. The options of a command derive from this
// struct, so that its members read as theirs.
struct CommonOptions {
  bool wide = false;
  bool csv_safe = false;
  std::string output = "-";
  unsigned threads = 0;
  bool strict = false;
  bool keep_going = false;
  Verbosity verbosity = Verbosity::normal;
};

// Adds --wide and --csv-safe, which only tables need.
void add_table_style(CLI::App& command, CommonOptions& options);

// Adds -o, --threads, --keep-going, --strict and -v.
void add_output_options(CLI::App& command, CommonOptions& options);

// Returns the style for text that is written to `output`. On a terminal it is as wide as that, with
// names cut and in colour. Elsewhere it is 120 columns wide with uncut names, so that the content
// of a file does not depend on the terminal.
TextStyle text_style(const std::string& output, bool wide);

// Writes to a file, compressed if its name ends in .gz, or to stdout ("-"). A closed pipe is no
// error, since the answer is known. Text `for_people` is safe for a terminal; other text is escaped
// for one.
void write_output(const std::string& path, const std::string& text, bool for_people);

// Reports the problems of an input on stderr. `error` is the reason why it was left out, if it was.
// Returns whether a part of the input is lost.
bool report_file(const std::string& path, const std::string& error, const ProblemCounts& problems,
                 Verbosity verbosity);

// Does the same for all inputs (FileFacts). Throws UsageError if none of them could be read.
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

// Throws UsageError if `output` is one of the inputs.
void refuse_input_as_output(const std::vector<Input>& inputs, const std::string& output);

}  // namespace traceloom
