#include "analysis/waits/step_roles.h"

#include "analysis/waits/rank_waits.h"
#include "analysis/work/call_tree.h"
#include "analysis/work/work_names.h"

#include <algorithm>

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
  rank.for_each_annotation([&](const HostSpan& span) { use_host(Role::other, span); });
  for_each_device_role(run, rank, [&](Role role, const EventColumns&, const DeviceSpan& span) {
    use_device(role, span);
  });
}

void for_each_device_role(const Run& run, const RankEvents& rank, const DeviceUse& use) {
  const FileIds collectives = collective_ids(rank);
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) {
      Role role = run.labels.kind(span.label).role;
      if (role == Role::kernel && std::binary_search(collectives.begin(), collectives.end(),
                                                     std::pair{part.file, span.external}))
        role = Role::communication;
      if (role != Role::dataloader) use(role, part, span);
    }
}

RoleSets find_role_sets(const Run& run, const RankEvents& rank) {
  ByEnum<Role, IntervalPacker> packers;
  const auto add = [&](Role role, const HostSpan& span) {
    if (role != Role::other) packers[role].add(span.interval());
  };
  for_each_role_span(run, rank, add, add);
  RoleSets sets;
  for (const Role role : kRoles) sets[role] = packers[role].finish();
  return sets;
}

void RowCodec<StepRoles>::write(PackedWriter& to, const StepRoles& before, const StepRoles& row) {
  RowCodec<Step>::write(to, before.step, row.step);
  unsigned taken = 0;
  unsigned hidden = 0;
  std::int64_t unit = 1000;
  for (const Role role : kRoles) {
    const auto i = static_cast<unsigned>(role);
    if (row.exclusive[role] != 0) taken |= 1U << i;
    if (row.raw[role] != row.exclusive[role]) hidden |= 1U << i;
    unit = std::min(unit, unit_of(row.exclusive[role], row.raw[role]));
  }
  to.number(taken);
  to.number(hidden);
  to.byte(unit == 1 ? 0 : 1);
  for (const Role role : kRoles) {
    const auto i = static_cast<unsigned>(role);
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
  for (const Role role : kRoles) {
    const auto i = static_cast<unsigned>(role);
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
  for (const Role role : kRoles) sets.emplace_back(roles.sets[role]);
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
  for (const Role role : kRoles) {
    means.exclusive[role] = rounded_mean(sum_.exclusive[role], count_);
    means.raw[role] = rounded_mean(sum_.raw[role], count_);
  }
  return means;
}

std::string role_title(Role role) {
  static constexpr std::array<std::string_view, kRoleCount> kTitles{
      "Kernel", "Memcpy", "Memset", "Comm", "Runtime", "Loader", "CPU", "Host code", "Other"};
  return std::string(kTitles[static_cast<std::size_t>(role)]);
}

Readers role_readers(Role role) {
  static constexpr std::array<Readers, kRoleCount> kReaders{
      Readers::most, Readers::few,  Readers::few, Readers::most, Readers::some,
      Readers::most, Readers::most, Readers::few, Readers::some};
  return kReaders[static_cast<std::size_t>(role)];
}

std::vector<StepLength> longest_steps(const std::vector<RankRoles>& roles) {
  const auto longest_first = [](const StepLength& a, const StepLength& b) {
    return a.first == b.first ? a.second > b.second : a.first < b.first;
  };
  const auto alike = [](const StepLength& a, const StepLength& b) { return a.first == b.first; };
  std::vector<StepLength> longest;
  for (const RankRoles& rank : roles) {
    const auto known = static_cast<std::ptrdiff_t>(longest.size());
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) longest.emplace_back(key_of(step.step), step.total_ns);
    const auto middle = longest.begin() + known;
    if (!std::is_sorted(middle, longest.end(), longest_first))
      std::sort(middle, longest.end(), longest_first);
    std::inplace_merge(longest.begin(), middle, longest.end(), longest_first);
    longest.erase(std::unique(longest.begin(), longest.end(), alike), longest.end());
  }
  return longest;
}

std::vector<std::int64_t> lengths_ns(const std::vector<StepLength>& steps) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(steps.size());
  for (const auto& [key, ns] : steps) lengths.push_back(ns);
  return lengths;
}

void note_longest(const std::vector<StepLength>& steps, Report& report) {
  constexpr std::size_t kLeastSteps = 3;
  std::int64_t sum_ns = 0;
  for (const auto& [key, ns] : steps) add_to(sum_ns, ns);
  const auto longest = std::ranges::max_element(steps, {}, &StepLength::second);
  if (steps.size() < kLeastSteps || longest->second <= sum_ns / 2) return;
  const StepKey& key = longest->first;
  report.notes.push_back(fmt::format(
      "step {}{} takes {:.1f} % of the time of {} steps: --steps leaves it out", key.number,
      key.epoch == kNoId ? "" : fmt::format(" of epoch {}", key.epoch),
      100.0 * static_cast<double>(longest->second) / static_cast<double>(sum_ns), steps.size()));
}

namespace {

constexpr StepPhase kPhases[] = {StepPhase::none, StepPhase::prefill, StepPhase::decode};

bool has_several_phases(const Run& run) {
  std::array<bool, std::size(kPhases)> seen{};
  for (const RankEvents& rank : run.ranks)
    for (const Step& step : rank.steps.list)
      if (step.counted) seen[static_cast<std::size_t>(step.phase)] = true;
  return std::count(seen.begin(), seen.end(), true) > 1;
}

}  // namespace

std::vector<PhaseSteps> find_phases(const std::vector<RankRoles>& ranks) {
  std::array<PhaseSteps, std::size(kPhases)> all;
  for (const StepPhase phase : kPhases) all[static_cast<std::size_t>(phase)].phase = phase;
  for (const RankRoles& rank : ranks)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) all[static_cast<std::size_t>(step.step.phase)].steps.add(step);
  std::vector<PhaseSteps> phases;
  for (const PhaseSteps& phase : all)
    if (phase.steps.count() > 0) phases.push_back(phase);
  return phases;
}

StepPhase main_phase(const std::vector<RankRoles>& ranks) {
  const std::vector<PhaseSteps> phases = find_phases(ranks);
  const auto longest = std::ranges::max_element(
      phases, {}, [](const PhaseSteps& one) { return one.steps.sum().total_ns; });
  return longest == phases.end() ? StepPhase::none : longest->phase;
}

void keep_phase(std::vector<RankRoles>& ranks, StepPhase phase) {
  for (RankRoles& rank : ranks) {
    const auto is_other = [&](const StepRoles& step) { return step.step.phase != phase; };
    if (std::any_of(rank.steps.begin(), rank.steps.end(), is_other))
      rank.steps.rewrite([&](const StepRoles& step) { return !is_other(step); });
  }
}

std::vector<RankRoles> find_main_roles(const Run& run) {
  std::vector<RankRoles> ranks = find_all_roles(run);
  if (has_several_phases(run)) keep_phase(ranks, main_phase(ranks));
  return ranks;
}

namespace {

Table phases_table(const std::vector<PhaseSteps>& phases) {
  using enum ColumnKind;
  using Row = PhaseSteps;
  ColumnsOf<Row> columns{
      {"kind", "Kind", text, [](auto& of) { return to_string(of.phase); }},
      {"steps", "Steps", count, [](auto& of) { return of.steps.count(); }},
      {"mean_ns", "Mean", duration, [](auto& of) { return of.steps.mean().total_ns; }},
  };
  append_roles(columns, "{}_share", share,
               [](const Row& of, Role role) { return of.steps.shares()[role]; });
  return make_table(phases, columns);
}

}  // namespace

void append_phases(const Run& run, Report& report) {
  const auto is_inference = [](const RankEvents& rank) {
    return rank.steps.kind == StepKind::iterations;
  };
  if (std::none_of(run.ranks.begin(), run.ranks.end(), is_inference)) return;
  report.tables.push_back({"kinds", "Steps by kind, and where a mean one goes",
                           phases_table(find_phases(find_all_roles(run)))});
}

void note_phase(const Run& run, const std::vector<RankRoles>& kept, Report& report) {
  if (!has_several_phases(run)) return;
  report.notes.push_back(
      fmt::format("there are prefill and decode steps: all of this is of the {} ones, which take "
                  "most of the time",
                  to_string(main_phase(kept))));
}

std::string step_noun(StepPhase phase) {
  return phase == StepPhase::none ? "step" : fmt::format("{} step", to_string(phase));
}

}  // namespace traceloom
