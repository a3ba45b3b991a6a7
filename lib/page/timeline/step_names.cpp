#include "page/timeline/step_names.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>

namespace traceloom {

bool has_epochs(const std::vector<RankRoles>& roles) {
  std::set<std::int64_t> epochs;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps) epochs.insert(step.step.epoch);
  return epochs.size() > 1;
}

std::string step_label(const StepKey& key, bool has_epochs) {
  const std::string label =
      has_epochs ? fmt::format("{}.{}", key.epoch, key.number) : fmt::format("{}", key.number);
  return key.run > 0 ? fmt::format("{} (run {})", label, key.run + 1) : label;
}

}  // namespace traceloom
