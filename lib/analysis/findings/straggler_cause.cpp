#include "analysis/findings/straggler_cause.h"

#include "analysis/waits/step_finder.h"
#include "analysis/waits/step_roles.h"
#include "base/units.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace traceloom {
namespace {

constexpr double kCauseShare = 0.50;   // share of the delay that a cause has to explain
constexpr double kAsOften = 0.02;      // counts of launches differ by less than this share
constexpr double kMostKernels = 0.80;  // share of the kernels' time

std::int64_t median_of_others(const RankWaits& waits, std::size_t rank, Role role) {
  std::vector<std::int64_t> values;
  for (std::size_t other = 0; other < waits.ranks.size(); ++other)
    if (other != rank) values.push_back(waits.own_ns[other][role]);
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

struct KernelTime {
  std::uint64_t count = 0;
  double ns = 0;
};
using KernelTimes = std::map<std::uint32_t, KernelTime>;  // keyed by label

// Uses the steps that all ranks have.
KernelTimes kernel_times(const Run& run, const RankRoles& roles, const RankEvents& rank,
                         const std::vector<std::uint32_t>& step_index) {
  const StepFinder steps(roles, step_index);
  KernelTimes times;
  rank.for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != Role::kernel || !steps.step_at(span.start_ns)) return;
    KernelTime& time = times[span.label];
    ++time.count;
    time.ns += static_cast<double>(span.end_ns - span.start_ns);
  });
  return times;
}

// True if the rank runs the same kernels as the others, equally often, and most of them take
// longer: its work is slower, and neither more nor different work.
bool has_slower_kernels(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
                        std::size_t rank) {
  KernelTimes own;
  KernelTimes others;
  const std::map<std::size_t, std::size_t> numbers =
      StepPlaces{waits.ranks, waits.step_index}.numbers();
  const auto times_of = [&](std::size_t place) {
    return kernel_times(run, roles[place], run.ranks[place], waits.step_index[numbers.at(place)]);
  };
  for_each_rank<KernelTimes>(
      run, waits.ranks, times_of, [&](std::size_t place, const KernelTimes& times) {
        for (const auto& [label, time] : times) {
          KernelTime& sum = (place == waits.ranks[rank] ? own : others)[label];
          sum.count += time.count;
          sum.ns += time.ns;
        }
      });
  const auto ranks = static_cast<double>(waits.ranks.size() - 1);
  double own_ns = 0;
  double others_ns = 0;
  for (const auto& [label, time] : own) own_ns += time.ns;
  for (const auto& [label, time] : others) others_ns += time.ns / ranks;
  if (others_ns <= 0 || own_ns <= others_ns) return false;
  const double least_factor = 1 + (own_ns / others_ns - 1) / 2;
  double slower_ns = 0;
  for (const auto& [label, time] : own) {
    const auto count = static_cast<double>(time.count);
    const KernelTime& other = others[label];
    if (std::abs(static_cast<double>(other.count) / ranks - count) > kAsOften * count) continue;
    if (time.ns >= least_factor * other.ns / ranks) slower_ns += other.ns / ranks;
  }
  return slower_ns >= kMostKernels * others_ns;
}

StragglerCause cause_of_role(const Run& run, const std::vector<RankRoles>& roles,
                             const RankWaits& waits, std::size_t rank, Role role) {
  const bool devices = run.ranks[waits.ranks[rank]].has_devices();
  switch (role) {
    case Role::dataloader:
      return StragglerCause::dataloader;
    case Role::kernel:
      return has_slower_kernels(run, roles, waits, rank) ? StragglerCause::slower_device
                                                         : StragglerCause::compute;
    case Role::cpu:
      return devices ? StragglerCause::launch : StragglerCause::compute;
    case Role::runtime:
    case Role::host_code:
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
  static constexpr std::string_view kNames[] = {"none",   "dataloader", "compute", "slower device",
                                                "launch", "memcpy",     "idle",    "inconclusive"};
  return kNames[static_cast<std::size_t>(cause)];
}

// Finds the role in which the rank spends the greatest excess over the others, if that is a large
// part of the delay.
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
