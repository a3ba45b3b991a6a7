// longest_steps: the length of each step of a run, which is that on the rank on which it takes
// longest.
//
//   for (const auto& [key, ns] : longest_steps(find_main_roles(run))) use(key.number, ns);
#pragma once

#include "analysis/waits/step_roles.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom {

using StepLength = std::pair<StepKey, std::int64_t>;

// Returns the counted steps of all ranks, ascending by key. A step that some ranks do not have
// counts with its length on the others.
std::vector<StepLength> longest_steps(const std::vector<RankRoles>& roles);
std::vector<std::int64_t> lengths_ns(const std::vector<StepLength>& steps);

}  // namespace traceloom
