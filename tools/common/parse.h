// Parses the command line with CLI11, but with our own help and error messages.
//
//   CLI::App app("Merges the traces of many ranks into one, on one clock");
//   set_up(app, "trace-merge");           // before options and commands are added
//   add_inputs(app, options.inputs);
//   if (!parse(app, argc, argv)) return ExitCode::done;
#pragma once

#include "common/help_formatter.h"

#include <string>

namespace CLI {
class App;
}

namespace traceloom {

// Gives the tool its name, -h/--help, --version, and the help style that fits stdout.
void set_up(CLI::App& app, const std::string& name);

// Returns false if there is nothing left to do: the help or the version was printed, or `--generate
// FOLDER` has written man pages and completions (reference.h). Throws a UsageError that says what
// is wrong and what to try: "unknown option --thredas (did you mean --threads?)". An empty value
// counts as a missing one.
bool parse(CLI::App& app, int argc, const char* const* argv);

}  // namespace traceloom
