#include "analysis/work/call_tree.h"

#include "base/saturating.h"
#include "run/id_index.h"
#include "run/span_stack.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kModule = "nn.Module:";
constexpr std::string_view kStep = "ProfilerStep";
// number of a root that is no thread
constexpr std::int64_t kNotLaunched = -2;
constexpr std::int64_t kAnyThread = -3;

// Nodes are found by parent, kind and name.
std::uint32_t find_or_add(std::vector<TreeNode>& nodes, StringTable& keys, std::uint32_t parent,
                          NodeKind kind, std::int64_t name) {
  const std::array<std::int64_t, 3> key{parent, static_cast<std::int64_t>(kind), name};
  const std::uint32_t node = keys.intern({reinterpret_cast<const char*>(key.data()), sizeof key});
  if (node == nodes.size()) nodes.push_back({parent, kind, name});
  return node;
}

NodeKind kind_of(HostKind kind, const EventClass& what) {
  if (kind == HostKind::call) return NodeKind::call;
  if (what.is_operator) return NodeKind::operation;
  return kind == HostKind::frame && what.mark == SpanMark::none ? NodeKind::python
                                                                : NodeKind::annotation;
}

}  // namespace

std::string_view to_string(NodeKind kind) {
  static constexpr std::string_view kNames[] = {"root", "python", "annotation",
                                                "op",   "call",   "kernel"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string TreeRoot::text() const {
  std::string text = rank < 0 ? "" : "rank " + std::to_string(rank);
  if (!thread.empty()) text += (text.empty() ? "thread " : ", thread ") + std::string(thread);
  if (is_not_launched) text += (text.empty() ? "" : ", ") + std::string("launch not recorded");
  return text.empty() ? "all" : text;
}

// The tree of one rank. Its roots are threads, given by their numbers.
class CallTree::RankTree {
 public:
  RankTree(const CallTree& tree, const RankEvents& rank) : tree_(tree), rank_(rank) {
    nest();
    correlations_.sort();
    externals_.sort();
    for (const EventColumns& part : rank.own_parts())
      for (const DeviceSpan& span : part.devices) add_device(part.file, span);
  }

  const RankEvents& rank() const { return rank_; }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  std::uint64_t crossings() const { return crossings_; }

 private:
  bool is_wanted(NodeKind kind, std::uint32_t label) const {
    const TreeKinds& kinds = tree_.options_.kinds;
    switch (kind) {
      case NodeKind::python:
        return kinds.python ||
               (kinds.modules && tree_.run_.labels.name(label).starts_with(kModule));
      case NodeKind::annotation:
        return kinds.annotations;
      case NodeKind::operation:
        return kinds.operators;
      case NodeKind::call:
        return kinds.calls;
      default:
        return true;
    }
  }

  void nest() {
    const HostOrder order(rank_, {.frames = true, .hosts = true});
    SpanStack open;
    std::uint32_t track = kNoParent;
    std::uint32_t root = kNoParent;
    for (const HostRef& ref : order.refs()) {
      const HostSpan& span = order.span(ref);
      if (span.track != track) {
        open.clear();
        track = span.track;
        root = kNoParent;
      }
      const NodeKind kind = kind_of(ref.kind(), tree_.run_.labels.kind(span.label));
      const bool wanted = is_wanted(kind, span.label);
      if (!wanted && kind != NodeKind::call && kind != NodeKind::operation) continue;
      if (wanted && root == kNoParent)
        root = node_of(kNoParent, NodeKind::root, tree_.threads_[track]);
      const std::uint32_t node =
          wanted ? add_span(open, span, kind, root) : open.around(span.start_ns, span.end_ns);
      if (node == kNoParent) continue;
      const std::size_t file = rank_.own_parts()[ref.part()].file;
      if (kind == NodeKind::operation)
        externals_.add(file, order.operation(ref).external, span.start_ns, node);
      if (kind == NodeKind::call) add_call(file, order.call(ref), node);
    }
  }

  // Ignores a call of the driver inside one of the runtime with the same correlation: the outer
  // call made the launch.
  void add_call(std::size_t file, const CallSpan& call, std::uint32_t node) {
    const bool is_inner = call.track == outer_call_.track && call.end_ns <= outer_call_.end_ns &&
                          call.correlation == outer_call_.correlation;
    if (is_inner) return;
    outer_call_ = call;
    correlations_.add(file, call.correlation, call.start_ns, node);
  }

  std::uint32_t add_span(SpanStack& open, const HostSpan& span, NodeKind kind, std::uint32_t root) {
    const SpanStack::Place place = open.find(span.start_ns, span.end_ns);
    if (place.crosses) ++crossings_;
    const std::uint32_t parent = place.around == SpanStack::kNone ? root : place.around;
    const std::uint32_t node = node_of(parent, kind, tree_.names_[span.label]);
    ++nodes_[node].count;
    add_to(nodes_[node].host_self_ns, place.counted_ns);
    if (place.around != SpanStack::kNone)
      nodes_[parent].host_self_ns =
          saturating_subtract(nodes_[parent].host_self_ns, place.counted_ns);
    open.push(node, span.end_ns, place);
    return node;
  }

  void add_device(std::size_t file, const DeviceSpan& span) {
    const std::uint32_t* found = correlations_.find(file, span.correlation, span.start_ns);
    if (found == nullptr) found = externals_.find(file, span.external, span.start_ns);
    std::uint32_t node =
        found == nullptr ? node_of(kNoParent, NodeKind::root, kNotLaunched) : *found;
    if (tree_.options_.kinds.kernels) {
      node = node_of(node, NodeKind::kernel, tree_.names_[span.label]);
      ++nodes_[node].count;
    }
    add_to(nodes_[node].device_self_ns, span.end_ns - span.start_ns);
  }

  std::uint32_t node_of(std::uint32_t parent, NodeKind kind, std::int64_t name) {
    return find_or_add(nodes_, keys_, parent, kind, name);
  }

  const CallTree& tree_;
  const RankEvents& rank_;
  std::vector<TreeNode> nodes_;
  StringTable keys_;
  IdIndex<std::uint32_t> correlations_;  // correlations of calls
  IdIndex<std::uint32_t> externals_;     // External ids of operators
  CallSpan outer_call_{{0, 0, 0, kNoParent}, kNoId, kNoId};
  std::uint64_t crossings_ = 0;
};

CallTree::CallTree(const Run& run, const TreeOptions& options) : run_(run), options_(options) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    names_.add(run.labels.kind(label).mark == SpanMark::step ? kStep : run.labels.name(label));
  for (std::uint32_t track = 0; track < run.tracks.size(); ++track)
    threads_.add(run.tracks.tid(track));
  std::vector<std::unique_ptr<RankTree>> parts(run.ranks.size());
  for_each_parallel(parts.size(), run.threads, [&](std::size_t i) {
    parts[i] = std::make_unique<RankTree>(*this, run.ranks[i]);
  });
  for (const auto& part : parts) merge(*part);
  add_up();
}

void CallTree::merge(const RankTree& part) {
  crossings_ += part.crossings();
  std::vector<std::uint32_t> numbers;  // our numbers of the part's nodes
  numbers.reserve(part.nodes().size());
  for (const TreeNode& node : part.nodes()) {
    std::int64_t name = node.name;
    if (node.kind == NodeKind::root) {
      const bool keeps = options_.by_thread || node.name == kNotLaunched;
      name = root_number(options_.by_rank ? part.rank().rank : -1, keeps ? node.name : kAnyThread);
    }
    const std::uint32_t parent = node.parent == kNoParent ? kNoParent : numbers[node.parent];
    const std::uint32_t number = find_or_add(nodes_, keys_, parent, node.kind, name);
    nodes_[number].count += node.count;
    add_to(nodes_[number].host_self_ns, node.host_self_ns);
    add_to(nodes_[number].device_self_ns, node.device_self_ns);
    numbers.push_back(number);
  }
}

// There are few roots, so a linear search is enough.
std::int64_t CallTree::root_number(std::int64_t rank, std::int64_t thread) {
  TreeRoot root{rank, std::string(threads_.text(thread)), thread == kNotLaunched};
  const auto found = std::find(roots_.begin(), roots_.end(), root);
  const std::int64_t number = found - roots_.begin();
  if (found == roots_.end()) roots_.push_back(std::move(root));
  return number;
}

const TreeRoot& CallTree::root(const TreeNode& node) const {
  const TreeNode* top = &node;
  while (top->parent != kNoParent) top = &nodes_[top->parent];
  return roots_[static_cast<std::size_t>(top->name)];
}

std::string CallTree::name(const TreeNode& node) const {
  if (node.kind == NodeKind::root) return root(node).text();
  return std::string(names_.text(node.name));
}

bool CallTree::is_plain_python(const TreeNode& node) const {
  return node.kind == NodeKind::python && !names_.text(node.name).starts_with(kModule);
}

void CallTree::add_up() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& node = nodes_[i];
    add_to(node.host_total_ns, node.host_self_ns);
    add_to(node.device_total_ns, node.device_self_ns);
    if (node.parent == kNoParent) continue;
    add_to(nodes_[node.parent].host_total_ns, node.host_total_ns);
    add_to(nodes_[node.parent].device_total_ns, node.device_total_ns);
  }
}

}  // namespace traceloom
