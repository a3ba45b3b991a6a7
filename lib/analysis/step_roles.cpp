#include "analysis/step_roles.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

// External ids of host ranges that are collectives, ascending.
std::vector<std::int64_t> collective_ids(const RankEvents& rank) {
  std::vector<std::int64_t> ids;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::collective && span.number > 0) ids.push_back(span.number);
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

// When something began that has its data, ascending.
std::vector<std::int64_t> loader_ends(const RankEvents& rank) {
  std::vector<std::int64_t> ends;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::batch || span.mark == SpanMark::train_batch ||
        span.mark == SpanMark::after_loader)
      ends.push_back(span.start_ns);
  });
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::int64_t mean(std::int64_t total, std::size_t count) {
  const auto n = static_cast<std::int64_t>(count);
  return (2 * total + n) / (2 * n);
}

}  // namespace

std::vector<HostSpan> find_loader_spans(const RankEvents& rank) {
  const std::vector<std::int64_t> ends = loader_ends(rank);
  std::vector<HostSpan> spans;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::loader) return;
    const auto end = std::lower_bound(ends.begin(), ends.end(), span.start_ns);
    spans.push_back(span);
    if (end != ends.end()) spans.back().end_ns = std::min(span.end_ns, *end);
  });
  return spans;
}

RoleSets find_role_sets(const Run& run, const RankEvents& rank) {
  RoleSets sets;
  rank.for_each_host([&](const HostSpan& span) {
    sets[run.labels.kind(span.label).role].push_back(span.interval());
  });
  rank.for_each_call([&](const CallSpan& span) { sets[Role::runtime].push_back(span.interval()); });
  const std::vector<std::int64_t> collectives = collective_ids(rank);
  rank.for_each_device([&](const DeviceSpan& span) {
    Role role = run.labels.kind(span.label).role;
    if (role == Role::kernel &&
        std::binary_search(collectives.begin(), collectives.end(), span.external))
      role = Role::communication;
    sets[role].push_back(span.interval());
  });
  sets[Role::dataloader].clear();
  for (const HostSpan& span : find_loader_spans(rank))
    sets[Role::dataloader].push_back(span.interval());
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    Intervals& set = sets[static_cast<Role>(i)];
    set = unite(std::move(set));
  }
  return sets;
}

RankRoles find_roles(const Run& run, const RankEvents& rank) {
  RankRoles roles{rank.rank, {}, find_role_sets(run, rank)};
  const Intervals times = rank.steps.times();
  roles.steps.reserve(rank.steps.list.size());
  for (const Step& step : rank.steps.list)
    roles.steps.push_back({step, step.time.to_ns - step.time.from_ns, {}, {}});
  Intervals left = unite(times);
  for (std::size_t i = 0; i + 1 < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    const std::vector<std::int64_t> raw = totals_in(roles.sets[role], times);
    const std::vector<std::int64_t> taken = totals_in(intersect(left, roles.sets[role]), times);
    for (std::size_t step = 0; step < times.size(); ++step) {
      roles.steps[step].raw[role] = raw[step];
      roles.steps[step].exclusive[role] = taken[step];
    }
    left = subtract(left, roles.sets[role]);
  }
  const std::vector<std::int64_t> rest = totals_in(left, times);
  for (std::size_t step = 0; step < times.size(); ++step)
    roles.steps[step].raw[Role::other] = roles.steps[step].exclusive[Role::other] = rest[step];
  return roles;
}

StepRefs counted(const std::vector<StepRoles>& steps) {
  StepRefs kept;
  kept.reserve(steps.size());
  for (const StepRoles& step : steps)
    if (step.step.counted) kept.push_back(&step);
  return kept;
}

StepRoles mean_of(const StepRefs& steps) {
  StepRoles sum;
  for (const StepRoles* step : steps) {
    sum.total_ns += step->total_ns;
    sum.exclusive.add(step->exclusive);
    sum.raw.add(step->raw);
  }
  if (steps.empty()) return sum;
  sum.total_ns = mean(sum.total_ns, steps.size());
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    sum.exclusive[role] = mean(sum.exclusive[role], steps.size());
    sum.raw[role] = mean(sum.raw[role], steps.size());
  }
  return sum;
}

}  // namespace traceloom
