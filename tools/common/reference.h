// The files that come out of a tool's options: man pages and completions.
#pragma once

#include "common/command_spec.h"

#include <string>

namespace traceloom {

// Writes below `folder` what an installation has below share/: man/man1/trace-stats.1 and one page
// a command, and completions for bash, zsh and fish.
void write_reference(const CommandSpec& tool, const std::string& folder);

}  // namespace traceloom
