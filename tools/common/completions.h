// Makes the scripts by which a shell completes the commands, options and values of a tool.
#pragma once

#include "common/command_spec.h"

#include <string>

namespace traceloom {

std::string bash_completion(const CommandSpec& tool);
std::string zsh_completion(const CommandSpec& tool);
std::string fish_completion(const CommandSpec& tool);

}  // namespace traceloom
