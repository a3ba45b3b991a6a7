#include "analysis/waits/step_roles.h"

#include "analysis/numbers/percentile.h"
#include "analysis/work/collective_names.h"
#include "analysis/work/host_frames.h"
#include "base/saturating.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

// External ids of host ranges that are collectives, with their files, ascending.
using FileIds = std::vector<std::pair<std::size_t, std::int64_t>>;

FileIds collective_ids(const RankEvents& rank) {
  FileIds ids;
  for (const EventColumns& part : rank.own_parts())
    for (const MarkedSpan& span : part.marks)
      if (span.mark == SpanMark::collective && span.number > 0)
        ids.emplace_back(part.file, span.number);
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool ends_wait(const MarkedSpan& span) {
  return span.mark == SpanMark::batch || span.mark == SpanMark::train_batch ||
         span.mark == SpanMark::after_loader;
}

// Returns the begins of events that already have their data, ascending; there are as many as steps.
// They are counted first, because a growing list holds its values twice.
std::vector<std::int64_t> loader_ends(const RankEvents& rank) {
  std::size_t count = 0;
  rank.for_each_mark([&](const MarkedSpan& span) { count += ends_wait(span) ? 1 : 0; });
  std::vector<std::int64_t> ends;
  ends.reserve(count);
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (ends_wait(span)) ends.push_back(span.start_ns);
  });
  if (!std::is_sorted(ends.begin(), ends.end())) std::sort(ends.begin(), ends.end());
  return ends;
}

template <typename Use>
void for_each_loader_span(const RankEvents& rank, Use use) {
  const std::vector<std::int64_t> ends = loader_ends(rank);
  rank.for_each_mark([&](const MarkedSpan& marked) {
    if (marked.mark != SpanMark::loader) return;
    HostSpan span = marked;
    const auto end = std::lower_bound(ends.begin(), ends.end(), span.start_ns);
    if (end != ends.end()) span.end_ns = std::min(span.end_ns, *end);
    use(span);
  });
}

// Rounds halves up.
std::int64_t rounded_mean(std::int64_t total, std::size_t count) {
  const auto n = static_cast<Int128>(count);
  return static_cast<std::int64_t>((2 * static_cast<Int128>(total) + n) / (2 * n));
}

// Calls use() for Python's functions on the threads to which the steps belong.
template <typename Use>
void for_each_code_frame(const Run& run, const RankEvents& rank, Use use) {
  if (!rank.has_frames()) return;
  const std::vector<bool> tracks = host_tracks(run, rank);
  rank.for_each_frame([&](const HostSpan& span) {
    if (tracks[span.track] && run.labels.kind(span.label).mark == SpanMark::none) use(span);
  });
}

}  // namespace

std::vector<HostSpan> find_loader_spans(const RankEvents& rank) {
  std::vector<HostSpan> spans;
  for_each_loader_span(rank, [&](const HostSpan& span) { spans.push_back(span); });
  return spans;
}

void for_each_role_span(const Run& run, const RankEvents& rank,
                        const std::function<void(Role, const HostSpan&)>& use_host,
                        const std::function<void(Role, const DeviceSpan&)>& use_device) {
  for_each_loader_span(rank, [&](const HostSpan& span) { use_host(Role::dataloader, span); });
  const bool has_devices = rank.has_devices();
  rank.for_each_host([&](const HostSpan& span) {
    Role role = run.labels.kind(span.label).role;
    // Where the devices are recorded, a range like "nccl:all_reduce" is the host's call only.
    if (has_devices && role == Role::communication && !works_on_host(run.labels.name(span.label)))
      role = Role::cpu;
    if (role != Role::dataloader) use_host(role, span);
  });
  rank.for_each_call([&](const CallSpan& span) { use_host(Role::runtime, span); });
  for_each_code_frame(run, rank, [&](const HostSpan& span) { use_host(Role::host_code, span); });
  for_each_device_role(run, rank, use_device);
}

void for_each_device_role(const Run& run, const RankEvents& rank,
                          const std::function<void(Role, const DeviceSpan&)>& use) {
  const FileIds collectives = collective_ids(rank);
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) {
      Role role = run.labels.kind(span.label).role;
      if (role == Role::kernel && std::binary_search(collectives.begin(), collectives.end(),
                                                     std::pair{part.file, span.external}))
        role = Role::communication;
      if (role != Role::dataloader) use(role, span);
    }
}

RoleSets find_role_sets(const Run& run, const RankEvents& rank) {
  std::array<IntervalPacker, kRoleCount> packers;
  const auto add = [&](Role role, const HostSpan& span) {
    packers[static_cast<std::size_t>(role)].add(span.interval());
  };
  for_each_role_span(run, rank, add, add);
  RoleSets sets;
  for (std::size_t i = 0; i < kRoleCount; ++i) sets[static_cast<Role>(i)] = packers[i].finish();
  return sets;
}

void RowCodec<StepRoles>::write(PackedWriter& to, const StepRoles& before, const StepRoles& row) {
  RowCodec<Step>::write(to, before.step, row.step);
  unsigned taken = 0;
  unsigned hidden = 0;
  std::int64_t unit = 1000;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    if (row.exclusive[role] != 0) taken |= 1U << i;
    if (row.raw[role] != row.exclusive[role]) hidden |= 1U << i;
    unit = std::min(unit, unit_of(row.exclusive[role], row.raw[role]));
  }
  to.number(taken);
  to.number(hidden);
  to.byte(unit == 1 ? 0 : 1);
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    if ((taken >> i & 1U) != 0) to.signed_number(row.exclusive[role] / unit);
    if ((hidden >> i & 1U) != 0) to.signed_number(row.raw[role] / unit);
  }
}

void RowCodec<StepRoles>::read(PackedReader& from, StepRoles& row) {
  RowCodec<Step>::read(from, row.step);
  row.total_ns = length_ns(row.step.time);
  const std::uint64_t taken = from.number();
  const std::uint64_t hidden = from.number();
  const std::int64_t unit = from.byte() == 0 ? 1 : 1000;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    row.exclusive[role] = (taken >> i & 1U) != 0 ? from.signed_number() * unit : 0;
    row.raw[role] = (hidden >> i & 1U) != 0 ? from.signed_number() * unit : row.exclusive[role];
  }
}

namespace {

// A group of some thousands of steps, so that the data about all of their instants stay small.
class StepGroup {
 public:
  void add(const Step& step) {
    steps_.push_back({step, length_ns(step.time), {}, {}});
    times_.push_back(step.time);
  }
  bool is_full() const { return steps_.size() == kStepsAtATime; }

  // Fills in the roles, appends the steps, and clears the group.
  void move_to(PackedRows<StepRoles>& steps, std::vector<IntervalWindows>& sets) {
    if (steps_.empty()) return;
    const Interval window{times_.front().from_ns, times_.back().to_ns};
    Intervals left = unite(times_);
    for (std::size_t i = 0; i + 1 < kRoleCount; ++i) {
      const Intervals& set = sets[i].in(window);
      if (set.empty()) continue;
      const Role role = static_cast<Role>(i);
      const std::vector<std::int64_t> raw = totals_in(set, times_);
      const std::vector<std::int64_t> taken = totals_in(intersect(left, set), times_);
      for (std::size_t step = 0; step < steps_.size(); ++step) {
        steps_[step].raw[role] = raw[step];
        steps_[step].exclusive[role] = taken[step];
      }
      left = subtract(left, set);
    }
    const std::vector<std::int64_t> rest = totals_in(left, times_);
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      steps_[step].raw[Role::other] = steps_[step].exclusive[Role::other] = rest[step];
      steps.push_back(steps_[step]);
    }
    steps_.clear();
    times_.clear();
  }

 private:
  std::vector<StepRoles> steps_;
  Intervals times_;
};

}  // namespace

RankRoles find_roles(const Run& run, const RankEvents& rank) {
  RankRoles roles{rank.rank, {}, find_role_sets(run, rank)};
  std::vector<IntervalWindows> sets;
  sets.reserve(kRoleCount);
  for (std::size_t i = 0; i < kRoleCount; ++i) sets.emplace_back(roles.sets[static_cast<Role>(i)]);
  StepGroup group;
  for (const Step& step : rank.steps.list) {
    group.add(step);
    if (group.is_full()) group.move_to(roles.steps, sets);
  }
  group.move_to(roles.steps, sets);
  roles.steps.shrink_to_fit();
  return roles;
}

void StepSum::add(const StepRoles& step) {
  ++count_;
  add_to(sum_.total_ns, step.total_ns);
  sum_.exclusive.add(step.exclusive);
  sum_.raw.add(step.raw);
}

void StepSum::add_counted(const PackedRows<StepRoles>& steps) {
  for (const StepRoles& step : steps)
    if (step.step.counted) add(step);
}

StepRoles StepSum::mean() const {
  StepRoles means;
  if (count_ == 0) return means;
  means.total_ns = rounded_mean(sum_.total_ns, count_);
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    means.exclusive[role] = rounded_mean(sum_.exclusive[role], count_);
    means.raw[role] = rounded_mean(sum_.raw[role], count_);
  }
  return means;
}

}  // namespace traceloom
