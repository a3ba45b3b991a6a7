// straggler_headline() writes what `stragglers` says above its table, which shows all of it.
//
//   report.headline.push_back(straggler_headline(find_straggler(run, roles, waits)));
#pragma once

#include "analysis/findings/straggler.h"

#include <string>

namespace traceloom {

// Delays, shares of steps and numbers of steps are those of the table: "Delay/step" and "Last", or
// by how much "Wait/step" of the others is more, which it says. What was measured is told with its
// size also where nobody is named for it, and why not.
std::string straggler_headline(const Straggler& found);

}  // namespace traceloom
