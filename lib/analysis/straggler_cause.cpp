#include "analysis/straggler_cause.h"

#include "analysis/steps_report.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr double kCauseShare = 0.50;  // of the delay, that a cause has to explain

std::int64_t median_of_others(const RankWaits& waits, std::size_t rank, Role role) {
  std::vector<std::int64_t> values;
  for (std::size_t other = 0; other < waits.ranks.size(); ++other)
    if (other != rank) values.push_back(waits.own_ns[other][role]);
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// In the steps that all ranks have.
std::uint64_t launches_of(const std::vector<RankRoles>& roles, const RankWaits& waits,
                          std::size_t rank) {
  std::uint64_t count = 0;
  for_each_shared(roles[waits.ranks[rank]].steps, waits.step_index[rank],
                  [&](std::size_t, const StepRoles& step) { count += step.step.device_ops; });
  return count;
}

// Whether the rank launched as much as the others did, so that its work is slower and not more.
bool launched_as_much(const std::vector<RankRoles>& roles, const RankWaits& waits,
                      std::size_t rank) {
  const auto own = static_cast<double>(launches_of(roles, waits, rank));
  for (std::size_t other = 0; other < waits.ranks.size(); ++other) {
    const auto count = static_cast<double>(launches_of(roles, waits, other));
    if (count < own * 0.98 || count > own * 1.02) return false;
  }
  return own > 0;
}

StragglerCause cause_of_role(const Run& run, const std::vector<RankRoles>& roles,
                             const RankWaits& waits, std::size_t rank, Role role) {
  const bool devices = run.ranks[waits.ranks[rank]].has_devices();
  switch (role) {
    case Role::dataloader:
      return StragglerCause::dataloader;
    case Role::kernel:
      return launched_as_much(roles, waits, rank) ? StragglerCause::clocks
                                                  : StragglerCause::compute;
    case Role::cpu:
      return devices ? StragglerCause::launch : StragglerCause::compute;
    case Role::runtime:
      return StragglerCause::launch;
    case Role::memcpy:
    case Role::memset:
      return StragglerCause::memcpy;
    case Role::other:
      return StragglerCause::idle;
    case Role::communication:
    case Role::count_:
      break;
  }
  return StragglerCause::inconclusive;
}

}  // namespace

std::string_view to_string(StragglerCause cause) {
  static constexpr std::string_view kNames[] = {"none",   "dataloader", "compute", "clocks",
                                                "launch", "memcpy",     "idle",    "inconclusive"};
  return kNames[static_cast<std::size_t>(cause)];
}

// The role in which the rank spends most more than the others, if that is much of the delay.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found) {
  Role most = Role::count_;
  std::int64_t excess_ns = 0;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    const std::int64_t excess = waits.own_ns[rank][role] - median_of_others(waits, rank, role);
    if (excess <= excess_ns) continue;
    excess_ns = excess;
    most = role;
  }
  found.cause = StragglerCause::inconclusive;
  if (static_cast<double>(excess_ns) < kCauseShare * static_cast<double>(found.delay_ns)) {
    found.why = "no role of its steps explains half of that";
    return;
  }
  found.cause = cause_of_role(run, roles, waits, rank, most);
  found.why = fmt::format("{} takes {} a step longer than on the median of the others",
                          role_name(most), format_duration(excess_ns));
}

}  // namespace traceloom
