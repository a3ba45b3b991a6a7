// The command line by CLI11, with our help and our words for what is wrong with it.
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

// Names the tool, gives it -h/--help and --version, and the help style that fits stdout.
void set_up(CLI::App& app, const std::string& name);

// False when the help or the version was asked for and printed to stdout, or when `--generate
// FOLDER` asked for man pages and completions (reference.h). Throws UsageError that says what is
// wrong and what to try: "unknown option --thredas (did you mean --threads?)". An option with an
// empty value has none.
bool parse(CLI::App& app, int argc, const char* const* argv);

}  // namespace traceloom
