// The cause by which a rank is slower than the others, and the words for it.
#pragma once

#include "analysis/findings/straggler.h"

#include <cstddef>
#include <string>

namespace traceloom {

// explain: finds the reason why a rank is slower than the others: the role in which its own work
// takes longer.

// Fills in the cause and why of `found`, whose delay it explains; `rank` is an index into `waits`.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found);

// straggler_headline: writes the text that `stragglers` prints above its table; the table has all
// its figures.
//
//   report.headline.push_back(straggler_headline(find_straggler(run, roles, waits)));

// Delays, shares of steps and numbers of steps are those of the table: "Delay/step" and "Last", or
// the excess of the others' "Wait/step", which the text then names. If no rank is named, the text
// still gives the size of the measured delay, and the reason.
std::string straggler_headline(const Straggler& found);

}  // namespace traceloom
