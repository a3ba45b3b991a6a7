// Makes the manual page of a command, as troff with the macros of man(7).
//
//   write("trace-stats-gpu.1", man_page(spec_of(app, "trace-stats gpu"), {"trace-stats"}));
#pragma once

#include "common/command_spec.h"

#include <string>
#include <vector>

namespace traceloom {

// Returns the name of its page: "trace-stats-gpu" for "trace-stats gpu".
std::string page_name(const CommandSpec& command);

// The page refers to the pages `related`, which belong to section 1.
std::string man_page(const CommandSpec& command, const std::vector<std::string>& related);

}  // namespace traceloom
