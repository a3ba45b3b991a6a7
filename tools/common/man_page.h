// The manual page of a command, as troff with the macros of man(7).
//
//   write("trace-stats-gpu.1", man_page(spec_of(app, "trace-stats gpu"), {"trace-stats"}));
#pragma once

#include "common/command_spec.h"

#include <string>
#include <vector>

namespace traceloom {

// "trace-stats-gpu" of "trace-stats gpu": the name of its page.
std::string page_name(const CommandSpec& command);

// `related`: the names of other pages to see, all of section 1.
std::string man_page(const CommandSpec& command, const std::vector<std::string>& related);

}  // namespace traceloom
