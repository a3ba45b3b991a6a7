// The names of steps in a page and its links: "12", or "1.12" for step 12 of epoch 1.
#pragma once

#include "analysis/waits/step_roles.h"

#include <string>
#include <vector>

namespace traceloom {

// True if steps are counted within epochs, of which there are several.
bool has_epochs(const std::vector<RankRoles>& roles);

std::string step_label(const StepKey& key, bool has_epochs);

}  // namespace traceloom
