// CallTree: what was called within what on the threads of the host, with equal stacks together.
//
//   CallTree tree(run, {.calls = true});
//   for (const TreeNode& node : tree.nodes()) use(tree.name(node), node.host_self_ns);
//
// Steps (ProfilerStep#7) are one node "ProfilerStep". On each thread spans nest by time (see
// SpanStack): the own times of all nodes of a thread add up to the time of its root. Device work is
// below the node around the call that launched it, else below the operator whose External id it
// has, else below a root of its own.
#pragma once

#include "analysis/numbers/text_numbers.h"
#include "base/string_table.h"
#include "run/host_order.h"
#include "run/run.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class NodeKind : std::uint8_t { root, python, annotation, operation, call, kernel };
// "root", "python", "annotation", "op", "call", "kernel".
std::string_view to_string(NodeKind kind);

// Which spans are nodes; the time of others is their parents' own. Python's frames and steps need a
// run that was read with frames, the rest one that was read with details.
struct TreeKinds {
  bool python = true;       // Python's functions
  bool modules = true;      // of these the calls of torch's modules ("nn.Module: ...")
  bool annotations = true;  // steps, record_function(), Composer's events, loaders, ...
  bool operators = true;
  bool calls = false;    // of the device's runtime and driver
  bool kernels = false;  // device work, below what launched it
};

struct TreeOptions {
  TreeKinds kinds = {};
  bool by_rank = true;  // else the same stacks of all ranks are one
  bool by_thread = true;
};

struct TreeNode {
  std::uint32_t parent;  // kNoParent of a root
  NodeKind kind;
  std::int64_t name;  // for CallTree::name()
  std::int64_t count = 0;
  std::int64_t host_total_ns = 0;
  std::int64_t host_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::int64_t device_self_ns = 0;  // launched by it and by none of its children
};
inline constexpr std::uint32_t kNoParent = std::numeric_limits<std::uint32_t>::max();

// What a root stands for.
struct TreeRoot {
  std::int64_t rank = -1;        // -1: of all
  std::string thread;            // tid as in the file; empty: of all
  bool is_not_launched = false;  // device work that nothing recorded launched

  bool operator==(const TreeRoot&) const = default;

  // "rank 0, thread 7"
  std::string text() const;
};

class CallTree {
 public:
  // The run must outlive it.
  CallTree(const Run& run, const TreeOptions& options);

  // A parent before its children, else in no order that means anything.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const TreeRoot& root(const TreeNode& node) const;
  // Of a root too.
  std::string name(const TreeNode& node) const;
  // A frame of Python that is no call of a module: it may be there only to call another.
  bool is_plain_python(const TreeNode& node) const;
  // How many spans cross the end of the span that they start in.
  std::uint64_t crossings() const { return crossings_; }

 private:
  class RankTree;

  void merge(const RankTree& part);
  std::int64_t root_number(std::int64_t rank, std::int64_t thread);
  void add_up();

  const Run& run_;
  TreeOptions options_;
  TextNumbers names_;
  TextNumbers threads_;
  std::vector<TreeRoot> roots_;
  std::vector<TreeNode> nodes_;
  StringTable keys_;  // of nodes: parent, kind and name
  std::uint64_t crossings_ = 0;
};

}  // namespace traceloom
