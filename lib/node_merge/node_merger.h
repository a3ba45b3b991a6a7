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
// Every rank of the node has one, and all write their traces into one folder. A rank tells the
// first one, by a small file beside the traces, what it has saved; a thread of the first rank waits
// for those of all ranks, merges them as trace-merge does and calls on_merged. Nothing of it runs
// in the threads that train.
//
// For each cycle the merged trace is read and written as a whole: after N cycles about N / 2 times
// what was recorded. Cycles that come faster than that are merged together. With a name that has
// {epoch} or {batch} in it each cycle becomes a trace of its own instead.
#pragma once

#include "record/names/name_template.h"
#include "record/recorder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)  // all of this is what the shared library has to offer

namespace traceloom {

// What became of a cycle.
struct NodeMerge {
  std::uint64_t cycle = 0;         // of the session, from 0
  record::Position position = {};  // at its end
  std::string path = {};           // "": there is no merged trace of it
  std::uint64_t events = 0;        // in the trace, without metadata
  std::int64_t ranks = 0;          // of which it has this cycle
  std::string problem = {};        // what is missing, and why; "" when all ranks are in it
};

struct NodeMergeOptions {
  // For the merged trace, with the placeholders that are known from the start (name_template.h).
  // "": that of the traces. Readers of a folder leave out a merge beside what it was made of.
  std::string folder = {};
  // With the placeholders of names of traces. Where it has no place of the training in it
  // ({epoch}, {batch}) one trace has all cycles: after each it is there with that, whole, or as it
  // was. A name that existed before the first gets a number, or with Options::overwrite is
  // replaced; one that ends in .gz is compressed.
  std::string file_name = std::string(record::kDefaultMergedName);  // "node{node_rank}.json"
  std::string run_name = {};  // for {run_name}; "": default_run_name()
  int gzip_level = 1;         // 0 to 9
  // 1 is the background thread alone. With more TBB starts threads; a process that was forked from
  // one with such threads must not ask for that.
  unsigned threads = 1;
  // How long close() waits for traces of ranks that are still at work.
  unsigned patience_ms = 60'000;
  // In the background thread; may call close(), which does nothing there.
  std::function<void(const NodeMerge&)> on_merged = {};
};

// Throws std::invalid_argument where the session writes no traces or does not say its ranks, and
// for an archive (.tar) that is to grow.
void check_node_merge(const NodeMergeOptions& options, const record::Options& session);

// note() may be called by any thread, the others by one.
class NodeMerger {
 public:
  // Sets `session.on_saved` to call note() behind what was there. Made before the session, so that
  // with its barrier no rank saves a trace before all have one; must live as long as the session.
  // What the session deletes (num_traces_to_keep) or replaces it still merges.
  //
  // Throws what check_node_merge() throws, and std::runtime_error when the folder of the traces
  // cannot be written.
  NodeMerger(NodeMergeOptions options, record::Options& session);
  ~NodeMerger();  // close()
  NodeMerger(const NodeMerger&) = delete;
  NodeMerger& operator=(const NodeMerger&) = delete;

  // This rank has saved a trace: the next cycle's. Throws std::runtime_error when that cannot be
  // told.
  void note(const record::SavedTrace& trace);

  // On the first rank waits until all cycles that it has noted are merged. What a rank does not
  // save any more (it has closed, or died, or takes longer than patience_ms) is left out, and
  // told. Once; later calls do nothing. In the child of a fork() nothing is done. When the process
  // exits, one that is still open is closed, behind the session, with 5 s of patience at most.
  void close();
  // Whether this is a call of on_merged, where close() does nothing, and the destructor must not
  // be called.
  bool is_calling() const;

 private:
  class Node;
  class OpenNodes;
  std::shared_ptr<Node> node_;  // also of the exit
};

}  // namespace traceloom

#pragma GCC visibility pop
