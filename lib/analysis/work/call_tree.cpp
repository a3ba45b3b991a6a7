#include "analysis/work/call_tree.h"

#include "base/arithmetic.h"
#include "run/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

namespace traceloom {
namespace {

constexpr double kAroundAll = 0.90;       // share of the steps of a frame that is around everything
constexpr double kMostOfIt = 0.50;        // share of a frame's time from which an inner frame is
                                          // worth reporting
constexpr double kInside = 0.80;          // share of a frame inside another from which it is no
                                          // separate time
constexpr std::int64_t kLeastPart = 200;  // frames shorter than this part of the code are left out
constexpr std::size_t kMostFunctions = 3;

struct LabelTime {
  std::uint32_t label = 0;
  Intervals time = {};  // united times of all its frames
  std::int64_t code_ns = 0;
};

// Returns frames that are long enough to matter, by label.
std::vector<LabelTime> long_frames(const Run& run, const RankEvents& rank, const Intervals& code) {
  const std::vector<bool> tracks = host_tracks(run, rank);
  IntervalLengths lengths(code);
  const std::int64_t least_ns = total_ns(code) / kLeastPart;
  std::map<std::uint32_t, LabelTime> labels;
  rank.for_each_frame([&](const HostSpan& span) {
    if (span.end_ns - span.start_ns < least_ns || !tracks[span.track]) return;
    if (run.labels.kind(span.label).mark != SpanMark::none) return;
    if (lengths.in(span.interval()) >= least_ns) labels[span.label].time.push_back(span.interval());
  });
  std::vector<LabelTime> found;
  for (auto& [label, frame] : labels) {
    frame.label = label;
    frame.time = unite(std::move(frame.time));
    for (const Interval& piece : frame.time) add_to(frame.code_ns, lengths.in(piece));
    found.push_back(std::move(frame));
  }
  return found;
}

bool is_inside(const LabelTime& frame, const LabelTime& other) {
  return static_cast<double>(total_ns(intersect(frame.time, other.time))) >=
         kInside * static_cast<double>(total_ns(frame.time));
}

FrameSum describe(const Run& run, const LabelTime& frame, const std::vector<LabelTime>& all) {
  FrameSum sum = read_frame(run.labels.name(frame.label));
  sum.ns = frame.code_ns;
  const LabelTime* inner = nullptr;
  for (const LabelTime& other : all) {
    if (other.label == frame.label || total_ns(other.time) >= total_ns(frame.time)) continue;
    if (static_cast<double>(other.code_ns) < kMostOfIt * static_cast<double>(sum.ns)) continue;
    if (!is_inside(other, frame)) continue;
    if (inner == nullptr || total_ns(other.time) < total_ns(inner->time)) inner = &other;
  }
  if (inner == nullptr) return sum;
  sum.inner = read_frame(run.labels.name(inner->label)).text();
  sum.inner_ns = inner->code_ns;
  return sum;
}

}  // namespace

std::string FrameSum::text() const {
  return file.empty() ? name : fmt::format("{} ({})", name, file);
}

namespace {

std::string without_address(std::string_view name) {
  const std::size_t address = name.find(" at 0x");
  std::string text(name.substr(0, address));
  if (address != std::string_view::npos && name.ends_with('>')) text += '>';
  return text;
}

}  // namespace

FrameSum read_frame(std::string_view label) {
  FrameSum frame;
  const std::size_t colon = label.find("): ");
  const std::size_t bracket =
      colon == std::string_view::npos ? colon : label.substr(0, colon).rfind('(');
  if (bracket != std::string_view::npos) {
    frame.file = label.substr(0, bracket);
    label.remove_prefix(colon + 3);
  }
  frame.name = without_address(label);
  return frame;
}

std::vector<bool> host_tracks(const Run& run, const RankEvents& rank) {
  std::vector<bool> tracks(run.tracks.size(), false);
  bool any = false;
  rank.for_each_call([&](const CallSpan& call) {
    if (call.correlation != kNoId) any = tracks[call.track] = true;
  });
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::step) any = tracks[span.track] = true;
  });
  if (!any) rank.for_each_host([&](const HostSpan& span) { tracks[span.track] = true; });
  return tracks;
}

std::vector<FrameSum> top_frames(const Run& run, const RankEvents& rank, const Intervals& code,
                                 const Intervals& steps) {
  std::vector<LabelTime> all = long_frames(run, rank, code);
  const auto most = static_cast<double>(total_ns(steps));
  const auto is_around_all = [&](const LabelTime& frame) {
    return static_cast<double>(total_ns(intersect(frame.time, steps))) >= kAroundAll * most;
  };
  // If one function covers everything, the innermost of such functions is reported.
  if (!std::all_of(all.begin(), all.end(), is_around_all)) {
    std::erase_if(all, is_around_all);
    std::stable_sort(all.begin(), all.end(), [](const LabelTime& a, const LabelTime& b) {
      return a.code_ns != b.code_ns ? a.code_ns > b.code_ns : total_ns(a.time) > total_ns(b.time);
    });
  } else {
    std::ranges::stable_sort(all, {}, [](const LabelTime& one) { return total_ns(one.time); });
  }
  std::vector<const LabelTime*> chosen;
  for (const LabelTime& frame : all) {
    if (chosen.size() == kMostFunctions) break;
    const bool is_other = std::none_of(chosen.begin(), chosen.end(), [&](const LabelTime* other) {
      return is_inside(frame, *other) || is_inside(*other, frame);
    });
    if (is_other) chosen.push_back(&frame);
  }
  std::vector<FrameSum> sums;
  sums.reserve(chosen.size());
  for (const LabelTime* const frame : chosen) sums.push_back(describe(run, *frame, all));
  return sums;
}

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

std::string TreeRoot::text() const {
  std::string text = rank < 0 ? "" : "rank " + std::to_string(rank);
  if (!thread.empty()) text += (text.empty() ? "thread " : ", thread ") + std::string(thread);
  if (is_not_launched) text += (text.empty() ? "" : ", ") + std::string("launch not recorded");
  return text.empty() ? "all" : text;
}

class CallTree::RankTree {
 public:
  RankTree(const CallTree& tree, const Run& run, const RankEvents& rank)
      : tree_(tree), run_(run), rank_(rank) {
    nest();
    correlations_.sort();
    externals_.sort();
    for (const EventColumns& part : rank.own_parts())
      for (const DeviceSpan& span : part.devices) add_device(part.file, span);
  }

  RankNodes take() { return {rank_.rank, std::move(nodes_), crossings_}; }

 private:
  bool is_wanted(NodeKind kind, std::uint32_t label) const {
    const TreeKinds& kinds = tree_.options_.kinds;
    switch (kind) {
      case NodeKind::python:
        return kinds.python || (kinds.modules && run_.labels.name(label).starts_with(kModule));
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
    const HostOrder order(rank_, true);
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
      const NodeKind kind = kind_of(ref.kind(), run_.labels.kind(span.label));
      const bool wanted = is_wanted(kind, span.label);
      if (!wanted && kind != NodeKind::call && kind != NodeKind::operation) continue;
      if (wanted && root == kNoParent)
        root = node_of(kNoParent, NodeKind::root, (*tree_.threads_)[track]);
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
    const std::uint32_t node = node_of(parent, kind, (*tree_.names_)[span.label]);
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
      node = node_of(node, NodeKind::kernel, (*tree_.names_)[span.label]);
      ++nodes_[node].count;
    }
    add_to(nodes_[node].device_self_ns, span.end_ns - span.start_ns);
  }

  std::uint32_t node_of(std::uint32_t parent, NodeKind kind, std::int64_t name) {
    return find_or_add(nodes_, keys_, parent, kind, name);
  }

  const CallTree& tree_;
  const Run& run_;
  const RankEvents& rank_;
  std::vector<TreeNode> nodes_;
  StringTable keys_;
  IdIndex<std::uint32_t> correlations_;  // correlations of calls
  IdIndex<std::uint32_t> externals_;     // External ids of operators
  CallSpan outer_call_{{0, 0, 0, kNoParent}, kNoId, kNoId};
  std::uint64_t crossings_ = 0;
};

CallTree::CallTree(const TreeOptions& options, std::shared_ptr<TextNumbers> names,
                   std::shared_ptr<TextNumbers> threads)
    : options_(options), names_(std::move(names)), threads_(std::move(threads)) {}

CallTree::CallTree(const Run& run, const TreeOptions& options)
    : CallTree(options, std::make_shared<TextNumbers>(), std::make_shared<TextNumbers>()) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    names_->add(run.labels.kind(label).mark == SpanMark::step
                    ? std::string(kStep)
                    : without_address(run.labels.name(label)));
  for (std::uint32_t track = 0; track < run.tracks.size(); ++track)
    threads_->add(run.tracks.tid(track));
  ranks_.resize(run.ranks.size());
  for_each_parallel(ranks_.size(), run.threads,
                    [&](std::size_t i) { ranks_[i] = RankTree(*this, run, run.ranks[i]).take(); });
  for (const RankNodes& part : ranks_) merge(part);
  add_up();
  if (!options_.keeps_ranks) ranks_ = {};
}

CallTree CallTree::of_rank(std::size_t rank) const {
  CallTree tree(options_, names_, threads_);
  tree.merge(ranks_.at(rank));
  tree.add_up();
  return tree;
}

void CallTree::merge(const RankNodes& part) {
  crossings_ += part.crossings;
  std::vector<std::uint32_t> numbers;  // our numbers of the part's nodes
  numbers.reserve(part.nodes.size());
  for (const TreeNode& node : part.nodes) {
    std::int64_t name = node.name;
    if (node.kind == NodeKind::root) {
      const bool keeps = options_.by_thread || node.name == kNotLaunched;
      name = root_number(options_.by_rank ? part.rank : -1, keeps ? node.name : kAnyThread);
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
  TreeRoot root{rank, std::string(threads_->text(thread)), thread == kNotLaunched};
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
  return std::string(names_->text(node.name));
}

bool CallTree::is_plain_python(const TreeNode& node) const {
  return node.kind == NodeKind::python && !names_->text(node.name).starts_with(kModule);
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
