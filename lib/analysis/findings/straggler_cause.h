// explain: finds the reason why a rank is slower than the others: the role in which its own work
// takes longer.
#pragma once

#include "analysis/findings/straggler.h"

#include <cstddef>

namespace traceloom {

// Fills in the cause and why of `found`, whose delay it explains; `rank` is an index into `waits`.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found);

}  // namespace traceloom
