// The calls on the threads of the host: those that took its time, and the tree of all of them.
#pragma once

#include "analysis/numbers.h"
#include "analysis/operators.h"
#include "base/by_enum.h"
#include "base/string_table.h"
#include "run/intervals.h"
#include "run/run.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// top_frames: finds the Python functions that took the time in which the host did nothing else.
//
//   for (const FrameSum& frame : top_frames(run, rank, host_code, steps)) use(frame.name);
//
// Frames nest. Frames around nearly all of the steps explain nothing. Of the others the outermost
// is reported, together with the innermost one in it that has most of its time.

struct FrameSum {
  std::string name;        // "preprocess"
  std::string file;        // "transformers/pipelines/video_classification.py"; "" for a function
                           // without a file
  std::int64_t ns = 0;     // time of the code in it, including functions that it called
  std::string inner = {};  // text() of the frame in it that has most of that time
  std::int64_t inner_ns = 0;

  // Returns "preprocess (transformers/pipelines/video_classification.py)".
  std::string text() const;
};

// Splits "torch/utils/_contextlib.py(117): decorate_context" into its parts, and removes the
// address from "<built-in method to of Tensor object at 0x7cc1>".
FrameSum read_frame(std::string_view label);

// Returns, by track, whether the host gives work to devices, or marks steps, on that thread.
// Python's frames on other threads prove nothing about the steps.
std::vector<bool> host_tracks(const Run& run, const RankEvents& rank);

// Returns the functions of one rank, the longest first. `code` is the time to explain, in `steps`.
std::vector<FrameSum> top_frames(const Run& run, const RankEvents& rank, const Intervals& code,
                                 const Intervals& steps);

// CallTree: the calls on the threads of the host as a tree, with equal stacks merged.
//
//   CallTree tree(run, {.calls = true});
//   for (const TreeNode& node : tree.nodes()) use(tree.name(node), node.host_self_ns);
//
// All steps (ProfilerStep#7) are one node "ProfilerStep". On each thread spans nest by time (see
// SpanStack), so the own times of all nodes of a thread add up to the time of its root. Device work
// belongs to:
// 1. the node around the call that launched it;
// 2. otherwise the operator whose External id it has;
// 3. otherwise a root of its own.

enum class NodeKind : std::uint8_t { root, python, annotation, operation, call, kernel, deeper };
// Returns "root", "python", "annotation", "op", "call", "kernel" or "deeper": nodes that a report
// has summed.
constexpr std::string_view to_string(NodeKind kind) {
  return name_in({"root", "python", "annotation", "op", "call", "kernel", "deeper"}, kind);
}

// The kinds of spans that become nodes; the time of other spans belongs to their parents. Python's
// frames and steps need a run that was read with frames, the other kinds one read with details.
struct TreeKinds {
  bool python = true;       // Python's functions
  bool modules = true;      // of Python's functions, the calls of torch's modules ("nn.Module:
                            // ...")
  bool annotations = true;  // steps, record_function(), Composer's events, loaders, ...
  bool operators = true;
  bool calls = false;    // calls of the device's runtime and driver
  bool kernels = false;  // device work, below the node that launched it
};

struct TreeOptions {
  TreeKinds kinds = {};
  bool by_rank = true;  // false: equal stacks of all ranks are merged
  bool by_thread = true;
  bool keeps_ranks = false;  // CallTree::of_rank() works
};

struct TreeNode {
  std::uint32_t parent;  // kNoParent for a root
  NodeKind kind;
  std::int64_t name;  // number for CallTree::name()
  std::int64_t count = 0;
  std::int64_t host_total_ns = 0;
  std::int64_t host_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::int64_t device_self_ns = 0;  // device work that it launched, but none of its children
};
inline constexpr std::uint32_t kNoParent = std::numeric_limits<std::uint32_t>::max();

// The meaning of a root.
struct TreeRoot {
  std::int64_t rank = -1;        // -1: all ranks
  std::string thread;            // tid as in the file; empty: all threads
  bool is_not_launched = false;  // device work without a recorded launch

  bool operator==(const TreeRoot&) const = default;

  // Returns "rank 0, thread 7".
  std::string text() const;
};

class CallTree {
 public:
  CallTree(const Run& run, const TreeOptions& options);
  // Returns the tree of one rank alone, given by its place in the run.
  CallTree of_rank(std::size_t rank) const;

  // A parent stands before its children; otherwise the order has no meaning.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const TreeRoot& root(const TreeNode& node) const;
  // Also works for a root.
  std::string name(const TreeNode& node) const;
  // True for a frame of Python that is no call of a module: it may only call another function.
  bool is_plain_python(const TreeNode& node) const;
  // Returns the number of spans that cross the end of the span in which they start.
  std::uint64_t crossings() const { return crossings_; }

 private:
  class RankTree;
  // The nodes of one rank, whose roots are threads, given by their numbers.
  struct RankNodes {
    std::int64_t rank = 0;
    std::vector<TreeNode> nodes = {};
    std::uint64_t crossings = 0;
  };

  CallTree(const TreeOptions& options, std::shared_ptr<TextNumbers> names,
           std::shared_ptr<TextNumbers> threads);
  void merge(const RankNodes& part);
  std::int64_t root_number(std::int64_t rank, std::int64_t thread);
  void add_up();

  TreeOptions options_;
  std::shared_ptr<TextNumbers> names_;
  std::shared_ptr<TextNumbers> threads_;
  std::vector<RankNodes> ranks_;  // if they are kept
  std::vector<TreeRoot> roots_;
  std::vector<TreeNode> nodes_;
  StringTable keys_;  // keys of nodes: parent, kind and name
  std::uint64_t crossings_ = 0;
};

}  // namespace traceloom
