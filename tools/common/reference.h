// Writes the files that are made of a tool's options: man pages and completions.
#pragma once

#include "common/command_spec.h"

#include <string>

namespace traceloom {

// Writes into `folder` the files that an installation has in share/: man/man1/trace-stats.1, one
// page for each command, and completions for bash, zsh and fish.
void write_reference(const CommandSpec& tool, const std::string& folder);

}  // namespace traceloom
