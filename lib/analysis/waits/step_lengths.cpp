#include "analysis/waits/step_lengths.h"

#include <algorithm>
#include <cstddef>

namespace traceloom {
namespace {

// Returns the counted steps of a rank, ascending by key; of several with one key, the longest.
std::vector<StepLength> lengths_of(const RankRoles& rank) {
  std::vector<StepLength> lengths;
  lengths.reserve(rank.steps.size());
  for (const StepRoles& step : rank.steps)
    if (step.step.counted) lengths.emplace_back(key_of(step.step), step.total_ns);
  const auto longest_first = [](const StepLength& a, const StepLength& b) {
    return a.first == b.first ? a.second > b.second : a.first < b.first;
  };
  if (!std::is_sorted(lengths.begin(), lengths.end(), longest_first))
    std::sort(lengths.begin(), lengths.end(), longest_first);
  const auto alike = [](const StepLength& a, const StepLength& b) { return a.first == b.first; };
  lengths.erase(std::unique(lengths.begin(), lengths.end(), alike), lengths.end());
  return lengths;
}

// Both lists ascend by key. Ranks mostly have the same steps, so that no step has to be moved.
void keep_longest(std::vector<StepLength>& all, const std::vector<StepLength>& some) {
  std::vector<StepLength> others;
  auto known = all.begin();
  for (const StepLength& step : some) {
    while (known != all.end() && known->first < step.first) ++known;
    if (known != all.end() && known->first == step.first)
      known->second = std::max(known->second, step.second);
    else
      others.push_back(step);
  }
  if (others.empty()) return;
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), others.begin(), others.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
}

}  // namespace

std::vector<StepLength> longest_steps(const std::vector<RankRoles>& roles) {
  std::vector<StepLength> longest;
  for (const RankRoles& rank : roles) {
    if (longest.empty())
      longest = lengths_of(rank);
    else
      keep_longest(longest, lengths_of(rank));
  }
  return longest;
}

std::vector<std::int64_t> lengths_ns(const std::vector<StepLength>& steps) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(steps.size());
  for (const auto& [key, ns] : steps) lengths.push_back(ns);
  return lengths;
}

}  // namespace traceloom
