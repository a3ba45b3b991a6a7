// The files that are made of a tool's options: man pages, and completions for three shells.
#pragma once

#include "common/command_spec.h"

#include <string>
#include <vector>

namespace traceloom {

// Makes the manual page of a command, as troff with the macros of man(7).
//
//   write("trace-stats-gpu.1", man_page(spec_of(app, "trace-stats gpu"), {"trace-stats"}));

// Returns the name of its page: "trace-stats-gpu" for "trace-stats gpu".
std::string page_name(const CommandSpec& command);

// The page refers to the pages `related`, which belong to section 1.
std::string man_page(const CommandSpec& command, const std::vector<std::string>& related);

// Makes the scripts by which a shell completes the commands, options and values of a tool.

std::string bash_completion(const CommandSpec& tool);
std::string zsh_completion(const CommandSpec& tool);
std::string fish_completion(const CommandSpec& tool);

// Writes the files that are made of a tool's options: man pages and completions.

// Writes into `folder` the files that an installation has in share/: man/man1/trace-stats.1, one
// page for each command, and completions for bash, zsh and fish.
void write_reference(const CommandSpec& tool, const std::string& folder);

}  // namespace traceloom
