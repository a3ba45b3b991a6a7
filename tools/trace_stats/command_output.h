// Where the text of a command goes, and what is said beside it: the same for all commands.
#pragma once

#include "base/problems.h"
#include "common/report_problems.h"
#include "report/table.h"

#include <string>

namespace traceloom {

// For what is written to `output`: colour and width only where that is a terminal.
TextStyle text_style(const std::string& output);

// To a file, packed if its name ends so, or to stdout ("-").
void write_output(const std::string& path, const std::string& text);

// Notes on stderr what was wrong with an input; `error` says why it was left out, if it was. True
// when something that it said is missing.
bool report_file(const std::string& path, const std::string& error, const ProblemCounts& problems,
                 Verbosity verbosity);

}  // namespace traceloom
