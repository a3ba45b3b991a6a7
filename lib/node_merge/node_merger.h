// NodeMerger: merges what the ranks of a node have recorded into one trace, cycle by cycle, while
// the training goes on.
//
//   Options options;                                   // of the session
//   NodeMerger merger({}, options);
//   Session session(options);
//   ...                                                // traces/node0.json has all cycles so far
//   session.close();
//   merger.close();                                    // and now the last one, too
//
// Every rank of the node has one, and all write their traces into one folder. A rank reports what
// it has saved to the first rank, by a small file next to the traces. A thread of the first rank
// waits for the traces of all ranks, merges them as trace-merge does and calls on_merged. Nothing
// of this runs in the threads that train.
//
// For each cycle the merged trace is read and written as a whole: after N cycles that is about N /
// 2 times what was recorded. If cycles come faster than they can be merged, several are merged
// together. If the name has {epoch} or {batch} in it, each cycle becomes a trace of its own
// instead.
#pragma once

#include "record/names/name_template.h"
#include "record/recorder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)  // the shared library exports this

namespace traceloom {

// The result of merging a cycle.
struct NodeMerge {
  std::uint64_t cycle = 0;         // the session's cycle, from 0
  record::Position position = {};  // at the end of the cycle
  std::string path = {};           // "": there is no merged trace of it
  std::uint64_t events = 0;        // in the trace, without metadata
  std::int64_t ranks = 0;          // number of ranks whose cycle is in it
  std::string problem = {};        // what is missing, and why; "" if all ranks are in it
};

struct NodeMergeOptions {
  // The folder of the merged trace, with the placeholders that are known from the start
  // (name_template.h). "" means the folder of the traces. Commands that read that folder leave out
  // a merge that lies next to the traces it was made of.
  std::string folder = {};
  // The name of the merged trace, with the placeholders of names of traces. If it has no place of
  // the training in it ({epoch}, {batch}), one trace has all cycles: after each cycle, the file
  // either has it or is as it was before. If a file of that name exists before the first cycle, the
  // trace gets a number, or with Options::overwrite replaces the file. A name that ends in .gz is
  // compressed.
  std::string file_name = std::string(record::kDefaultMergedName);  // "node{node_rank}.json"
  std::string run_name = {};  // for {run_name}; "": default_run_name()
  int gzip_level = 1;         // 0 to 9
  // The number of threads that merge. 1 is the background thread alone. With more, TBB starts
  // threads; a process that was forked from one with such threads must not ask for more.
  unsigned threads = 1;
  // Milliseconds that close() waits for traces of ranks that are still at work.
  unsigned patience_ms = 60'000;
  // Called in the background thread. It may call close(), which does nothing there.
  std::function<void(const NodeMerge&)> on_merged = {};
};

// Throws std::invalid_argument if the session writes no traces or does not say its ranks, and if an
// archive (.tar) would have to grow.
void check_node_merge(const NodeMergeOptions& options, const record::Options& session);

// One thread at a time may use a merger; only note() may be called by any thread.
class NodeMerger {
 public:
  // Sets `session.on_saved` to call note() after the callback that was there. Make the merger
  // before the session, so that with the session's barrier no rank saves a trace before all have a
  // merger. The merger must outlive the session. It also merges traces that the session deletes
  // (num_traces_to_keep) or replaces.
  NodeMerger(NodeMergeOptions options, record::Options& session);
  ~NodeMerger();  // calls close()
  NodeMerger(const NodeMerger&) = delete;
  NodeMerger& operator=(const NodeMerger&) = delete;

  // Notes that this rank has saved the trace of the next cycle. Throws std::runtime_error if the
  // note cannot be written.
  void note(const record::SavedTrace& trace);

  // Ends the merge. On the first rank it waits until all cycles that this rank has noted are
  // merged. A trace that a rank no longer saves (the rank has closed, or died, or takes longer than
  // patience_ms) is left out and reported. Later calls do nothing, nor does a call in the child of
  // a fork(). When the process exits, a merger that is still open is closed after the session, with
  // 5 s of patience at most.
  void close();
  // Returns true within a call of on_merged, where close() does nothing and the destructor must not
  // be called.
  bool is_calling() const;

 private:
  class Trace;
  class Node;
  struct OpenNodes;
  std::shared_ptr<Node> node_;  // shared with the handler of the exit
};

}  // namespace traceloom

#pragma GCC visibility pop
