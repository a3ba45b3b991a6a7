#include "analysis/work/op_groups.h"

#include "analysis/work/work_names.h"
#include "base/arithmetic.h"

#include <utility>

namespace traceloom {

void OpGroup::add(OpGroup more) {
  add_values(host_times, std::move(more.host_times));
  add_values(device_times, std::move(more.device_times));
  add_sums(sums(), more.sums());
}

void OpGroup::finish() {
  host = time_stats(std::exchange(host_times, {}));
  device = time_stats(std::exchange(device_times, {}));
}

OpGroups::OpGroups(const Run& run, const OpsOptions& options)
    : run_(run), options_(options), names_(label_names(run.labels)) {
  if (options.by_shape || options.by_arguments)
    arguments_ = argument_parts(run.details, options.by_arguments);
  if (options.by_thread)
    for (std::uint32_t track = 0; track < run.tracks.size(); ++track)
      threads_.add(run.tracks.tid(track));
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    const bool is_device = run.labels.kind(label).place == EventPlace::device;
    tensor_labels_.push_back(is_device && uses_tensor_cores(run.labels.name(label)) == true);
    eligible_labels_.push_back(!is_device && may_use_tensor_cores(run.labels.name(label)));
  }
  for (const RankEvents& rank : run.ranks)
    if (rank.is_here) add_rank(rank);
  finish_groups(run, groups_);
  add_up(run, totals_);
}

std::vector<OpGroups::Launched> OpGroups::find_launched(const RankEvents& rank,
                                                        const Operators& operators) {
  std::vector<Launched> launched(operators.nodes().size());
  rank.for_each_device([&](const DeviceSpan& span) {
    const std::int64_t ns = span.end_ns - span.start_ns;
    const Role role = run_.labels.kind(span.label).role;
    const bool is_kernel = role == Role::kernel || role == Role::communication;
    if (is_kernel) add_to(totals_.kernel_ns, ns);
    const std::uint32_t node = operators.launcher_of(span);
    if (node == kNoOperator) {
      add_to(totals_.not_launched_ns, ns);
      return;
    }
    Launched& found = launched[node];
    if (is_kernel) add_to(found.kernel_ns, ns);
    if (tensor_labels_[span.label]) add_to(found.tensor_ns, ns);
    if (found.kernel != TextNumbers::kNothing && found.first_ns <= span.start_ns) return;
    found.first_ns = span.start_ns;
    found.kernel = names_[span.label];
  });
  return launched;
}

// Device work of a repeat is added to the operator that it repeats.
void OpGroups::add_repeats(const std::vector<OperatorNode>& nodes, std::vector<Launched>& own) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!nodes[i].is_repeat) continue;
    Launched& outer = own[nodes[i].parent];
    add_to(outer.kernel_ns, own[i].kernel_ns);
    add_to(outer.tensor_ns, own[i].tensor_ns);
    if (outer.kernel == TextNumbers::kNothing) outer.kernel = own[i].kernel;
    own[i] = {};
  }
}

void OpGroups::add_rank(const RankEvents& rank) {
  const Operators operators(run_, rank);
  const std::vector<OperatorNode>& nodes = operators.nodes();
  std::vector<Launched> own = find_launched(rank, operators);
  add_repeats(nodes, own);
  // kernels and tensor cores
  std::vector<std::pair<std::int64_t, std::int64_t>> totals(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    add_to(totals[i].first, own[i].kernel_ns);
    add_to(totals[i].second, own[i].tensor_ns);
    if (nodes[i].parent == kNoOperator) continue;
    totals[nodes[i].parent].first += totals[i].first;
    totals[nodes[i].parent].second += totals[i].second;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_repeat) continue;
    OpGroup& group = groups_[key_of(rank, nodes[i], own[i])];
    add_operator(group, nodes[i], own[i]);
    add_to(group.kernel_total_ns, totals[i].first);
    add_to(group.tensor_total_ns, totals[i].second);
  }
}

void OpGroups::add_operator(OpGroup& group, const OperatorNode& node, const Launched& own) {
  group.host_times.push_back(node.end_ns - node.start_ns);
  add_to(group.host_self_ns, node.host_self_ns);
  add_to(group.device_total_ns, node.device_total_ns);
  add_to(group.device_self_ns, node.device_self_ns);
  if (own.kernel != TextNumbers::kNothing) group.device_times.push_back(node.device_self_ns);
  add_to(group.kernel_self_ns, own.kernel_ns);
  add_to(group.tensor_self_ns, own.tensor_ns);
  add_to(totals_.host_self_ns, node.host_self_ns);
  add_to(totals_.device_self_ns, node.device_self_ns);
  if (!eligible_labels_[node.label]) return;
  ++group.eligible;
  add_to(totals_.eligible_ns, own.kernel_ns);
}

OpKey OpGroups::key_of(const RankEvents& rank, const OperatorNode& node, const Launched& launched) {
  OpKey key{};
  const std::int64_t name = names_[node.label];
  if (options_.by_rank) key[kOpRank] = rank.rank;
  if (options_.by_thread) key[kOpThread] = threads_[node.track];
  if (options_.by_type) {
    std::int64_t& known = types_[{name, launched.kernel}];
    if (known == 0)
      known =
          1 + static_cast<std::int64_t>(work_type(names_.text(name), names_.text(launched.kernel)));
    key[kOpType] = known - 1;
  }
  if (options_.by_shape || options_.by_arguments) key[kOpArguments] = arguments_[node.arguments];
  if (options_.by_name) key[kOpName] = name;
  return key;
}

}  // namespace traceloom
