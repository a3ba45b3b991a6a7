#include "analysis/verdict/job_gains.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace traceloom {
namespace {

constexpr std::int64_t kMostOff = 50;  // the replay is off by at most a 50th of the step

}  // namespace

JobGains find_job_gains(const Run& run, const std::string& kernel) {
  using Kind = Repair::Kind;
  JobGains gains;
  const bool has_devices = std::ranges::all_of(run.ranks, &RankEvents::has_devices);
  if (run.ranks.size() < 2 || !has_devices) return gains;
  std::vector<Repair> others{{Kind::loader}, {Kind::communication}, {Kind::launch}};
  if (!kernel.empty()) {
    others.push_back({Kind::kernel});
    others.back().names = NamePattern::exactly(kernel);
    others.back().change = -1;
  }
  const WhatIf found = find_what_if(run, {.others = std::move(others)});
  if (!found.refusal.empty() || found.launches_share < kLeastCoverage ||
      found.unexplained_ns > found.step_ns / kMostOff ||
      std::abs(found.replayed_ns - found.step_ns) > found.step_ns / kMostOff)
    return gains;
  gains.is_known = true;
  gains.step_ns = found.replayed_ns;
  for (const Gain& gain : found.singles) {
    const std::int64_t ns = std::max<std::int64_t>(gain.gain_ns, 0);
    switch (gain.repairs.front().kind) {
      case Kind::loader:
        gains.loader_ns = ns;
        break;
      case Kind::communication:
        gains.communication_ns = ns;
        break;
      case Kind::launch:
        gains.launch_ns = ns;
        break;
      case Kind::kernel:
        gains.kernel_ns = ns;
        break;
      default:
        if (!gains.oddest && gain.least_ns > 0) gains.oddest = gain;
    }
  }
  return gains;
}

std::string odd_words(const Repair& repair) {
  const std::string ranks = ranks_words(repair.ranks, RankStyle::named);
  switch (repair.kind) {
    case Repair::Kind::stage:
      return fmt::format("stage {}", repair.ranks.front());
    case Repair::Kind::link:
      return "the link of " + ranks;
    case Repair::Kind::group:
      return "the group of " + ranks;
    default:
      return ranks;
  }
}

}  // namespace traceloom
