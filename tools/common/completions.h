// Scripts that complete the commands, options and values of a tool in a shell.
#pragma once

#include "common/command_spec.h"

#include <string>

namespace traceloom {

std::string bash_completion(const CommandSpec& tool);
std::string zsh_completion(const CommandSpec& tool);
std::string fish_completion(const CommandSpec& tool);

}  // namespace traceloom
