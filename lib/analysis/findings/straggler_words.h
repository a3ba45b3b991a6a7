// straggler_headline: writes the text that `stragglers` prints above its table; the table has all
// its figures.
//
//   report.headline.push_back(straggler_headline(find_straggler(run, roles, waits)));
#pragma once

#include "analysis/findings/straggler.h"

#include <string>

namespace traceloom {

// Delays, shares of steps and numbers of steps are those of the table: "Delay/step" and "Last", or
// the excess of the others' "Wait/step", which the text then names. If no rank is named, the text
// still gives the size of the measured delay, and the reason.
std::string straggler_headline(const Straggler& found);

}  // namespace traceloom
