#include "analysis/work/kernel_groups.h"

#include "analysis/work/launching_host.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kShortNs = 10'000;

// Returns the time from the first to the last work of each device, for each recording.
std::int64_t devices_ns(const RankEvents& rank) {
  std::map<std::pair<std::int32_t, std::ptrdiff_t>, Interval> devices;
  rank.for_each_device([&](const DeviceSpan& span) {
    const auto later =
        std::ranges::upper_bound(rank.unrecorded, span.start_ns, {}, &Interval::to_ns);
    const std::ptrdiff_t recording = later - rank.unrecorded.begin();
    const auto [found, is_new] = devices.try_emplace({span.device, recording}, span.interval());
    if (is_new) return;
    found->second.from_ns = std::min(found->second.from_ns, span.start_ns);
    found->second.to_ns = std::max(found->second.to_ns, span.end_ns);
  });
  std::int64_t sum = 0;
  for (const auto& [device, time] : devices) add_to(sum, time.to_ns - time.from_ns);
  return sum;
}

}  // namespace

void KernelGroup::add(KernelGroup more) {
  add_values(times, std::move(more.times));
  blocks.add(more.blocks);
  occupancy.add(more.occupancy);
  collectives.merge(more.collectives);
  add_sums(sums(), more.sums());
}

void KernelGroup::finish() {
  stats = time_stats(std::exchange(times, {}));
}

KernelGroups::KernelGroups(const Run& run, const KernelsOptions& options)
    : run_(run), options_(options), names_(label_names(run.labels)) {
  if (options.by_launch)
    launches_ =
        detail_parts(run.details, {"grid", "block", "registers per thread", "shared memory"});
  if (options.by_shape || options.by_arguments)
    arguments_ = argument_parts(run.details, options.by_arguments);
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    const bool is_device = run.labels.kind(label).place == EventPlace::device;
    tensor_.push_back(is_device ? uses_tensor_cores(run.labels.name(label)) : std::nullopt);
    eligible_.push_back(!is_device && may_use_tensor_cores(run.labels.name(label)));
  }
  for (const RankEvents& rank : run.ranks)
    if (rank.is_here) add_rank(rank);
  finish_groups(run, groups_);
  add_up(run, totals_);
}

void KernelGroups::add_rank(const RankEvents& rank) {
  add_to(totals_.devices_ns, devices_ns(rank));
  const Operators operators(run_, rank);
  rank.for_each_device([&](const DeviceSpan& span) {
    const Role role = run_.labels.kind(span.label).role;
    if (role != Role::kernel && role != Role::communication) return;
    const std::uint32_t node = operators.launcher_of(span);
    add_kernel(rank, span, node == kNoOperator ? nullptr : &operators.nodes()[node]);
  });
  name_collectives(rank, operators);
}

void KernelGroups::name_collectives(const RankEvents& rank, const Operators& operators) {
  const auto is_nameless = [&](const DeviceSpan& span) {
    return run_.labels.kind(span.label).role == Role::communication &&
           !says_what_it_does(kernel_name(run_.labels.name(span.label)));
  };
  bool any = false;
  rank.for_each_device([&](const DeviceSpan& span) { any = any || is_nameless(span); });
  if (!any) return;
  const LaunchingRanges ranges(run_, rank);
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) {
      if (!is_nameless(span)) continue;
      const LaunchedBy by = ranges.find(part, span);
      const LaunchingRange* const named = by.range != nullptr ? by.range : by.op;
      if (named == nullptr) continue;
      const std::uint32_t node = operators.launcher_of(span);
      const OperatorNode* const launcher = node == kNoOperator ? nullptr : &operators.nodes()[node];
      groups_[key_of(rank, span, launcher)].collectives.emplace(
          run_.labels.name(named->span.label));
      totals_.any_collective = true;
    }
}

void KernelGroups::add_kernel(const RankEvents& rank, const DeviceSpan& span,
                              const OperatorNode* launcher) {
  const std::int64_t ns = span.end_ns - span.start_ns;
  KernelGroup& group = groups_[key_of(rank, span, launcher)];
  group.times.push_back(ns);
  ++totals_.count;
  add_to(totals_.total_ns, ns);
  const std::optional<bool> tensor_cores = tensor_[span.label];
  const bool is_short = ns < kShortNs;
  KernelSums own{.short_count = is_short ? 1 : 0,
                 .short_ns = is_short ? ns : 0,
                 .tensor_ns = tensor_cores.value_or(false) ? ns : 0,
                 .told_ns = tensor_cores ? ns : 0};
  add_sums(group.sums(), own.sums());
  add_sums(totals_.KernelSums::sums(), own.sums());
  if (launcher == nullptr)
    add_to(totals_.not_launched_ns, ns);
  else if (eligible_[launcher->label])
    add_to(totals_.eligible_ns, ns);
  if (span.detail == kNoDetail) return;
  const std::string_view details = run_.details[span.detail];
  if (const auto blocks = find_number(details, "blocks per SM")) group.blocks.add(*blocks, ns);
  if (const auto percent = find_number(details, "est. achieved occupancy %"))
    group.occupancy.add(*percent, ns);
  totals_.any_measured |= !group.blocks.empty() || !group.occupancy.empty();
}

KernelKey KernelGroups::key_of(const RankEvents& rank, const DeviceSpan& span,
                               const OperatorNode* launcher) {
  KernelKey key{};
  const std::int64_t name = names_[span.label];
  const std::int64_t op = launcher == nullptr ? TextNumbers::kNothing : names_[launcher->label];
  if (options_.by_rank) key[kKernelRank] = rank.rank;
  if (options_.by_stream) {
    key[kKernelDevice] = span.device;
    key[kKernelStream] = span.stream;
  }
  if (options_.by_type) key[kKernelType] = type_of(op, name);
  if (options_.by_launch) key[kKernelLaunch] = launches_[span.detail];
  if (options_.by_shape || options_.by_arguments)
    key[kKernelArguments] =
        launcher == nullptr ? TextNumbers::kNothing : arguments_[launcher->arguments];
  if (options_.by_operator) key[kKernelOperator] = op;
  if (options_.by_name) key[kKernelName] = name;
  return key;
}

std::int64_t KernelGroups::type_of(std::int64_t op, std::int64_t kernel) {
  std::int64_t& known = types_[{op, kernel}];
  if (known == 0)
    known = 1 + static_cast<std::int64_t>(work_type(names_.text(op), names_.text(kernel)));
  return known - 1;
}

std::string_view find_shape(std::string_view arguments) {
  const std::string_view dims = find_detail(arguments, "Input Dims");
  return dims.empty() ? find_detail(arguments, "Input dims") : dims;
}

}  // namespace traceloom
