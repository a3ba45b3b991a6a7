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

#include "node_merge/traceloom_node_merge.h"
#include "record/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

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
  // (traceloom.h). "" means the folder of the traces. Commands that read that folder leave out
  // a merge that lies next to the traces it was made of.
  std::string folder = {};
  // The name of the merged trace, with the placeholders of names of traces. If it has no place of
  // the training in it ({epoch}, {batch}), one trace has all cycles: after each cycle, the file
  // either has it or is as it was before. If a file of that name exists before the first cycle, the
  // trace gets a number, or with Options::overwrite replaces the file. A name that ends in .gz is
  // compressed.
  std::string file_name = "node{node_rank}.json";
  std::string run_name = {};  // for {run_name}; "": that of the environment
  int gzip_level = 1;         // 0 to 9
  // The number of threads that merge. 1 is the background thread alone. With more, TBB starts
  // threads; a process that was forked from one with such threads must not ask for more.
  unsigned threads = 1;
  // Milliseconds that close() waits for traces of ranks that are still at work.
  unsigned patience_ms = 60'000;
  // Called in the background thread. It may call close(), which does nothing there.
  std::function<void(const NodeMerge&)> on_merged = {};
};

namespace detail {

// The options of a merger as C takes them; callbacks use this copy of them.
class MergeOptionsForC {
 public:
  explicit MergeOptionsForC(NodeMergeOptions from) : own_(std::move(from)) {
    if (!own_.folder.empty()) all_.folder = own_.folder.c_str();
    if (!own_.run_name.empty()) all_.run_name = own_.run_name.c_str();
    all_.file_name = own_.file_name.c_str();
    all_.gzip_level = own_.gzip_level;
    all_.threads = own_.threads;
    all_.patience_ms = own_.patience_ms;
    all_.on_merged_arg = this;
    if (own_.on_merged)
      all_.on_merged = [](void* self, const traceloom_merged_trace* trace) {
        static_cast<MergeOptionsForC*>(self)->own_.on_merged(
            {trace->cycle, *trace->at, trace->path, trace->events, trace->ranks, trace->problem});
      };
  }
  MergeOptionsForC(const MergeOptionsForC&) = delete;
  MergeOptionsForC& operator=(const MergeOptionsForC&) = delete;

  const traceloom_node_merge_options* get() const { return &all_; }

 private:
  NodeMergeOptions own_;
  traceloom_node_merge_options all_ = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
};

inline void check(const traceloom_node_merge_options* merge, const traceloom_options* session) {
  if (traceloom_node_merge_check(merge, session) != 0)
    record::detail::fail<std::invalid_argument>();
}

}  // namespace detail

// Throws std::invalid_argument if the session writes no traces or does not say its ranks, and if an
// archive (.tar) would have to grow.
inline void check_node_merge(const NodeMergeOptions& options, const record::Options& session) {
  detail::check(detail::MergeOptionsForC(options).get(),
                &record::detail::OptionsForC(session).get());
}

// One thread at a time may use a merger.
class NodeMerger {
 public:
  // Sets `session.note_saved`, which notes each trace after session.on_saved. Make the merger
  // before the session, so that with the session's barrier no rank saves a trace before all have a
  // merger. The merger must outlive the session. It also merges traces that the session deletes
  // (num_traces_to_keep) or replaces. Throws as check_node_merge() does, and std::runtime_error if
  // the notes of the ranks cannot be written.
  NodeMerger(NodeMergeOptions options, record::Options& session)
      : options_(std::make_unique<detail::MergeOptionsForC>(std::move(options))) {
    record::detail::OptionsForC for_c(session);
    traceloom_options& all = for_c.get();
    merger_ = traceloom_node_merger_open(options_->get(), &all);
    if (merger_ == nullptr) {
      detail::check(options_->get(), &all);
      record::detail::fail();
    }
    session.note_saved = all.note_saved;
    session.note_saved_arg = all.note_saved_arg;
  }
  ~NodeMerger() { close(); }
  NodeMerger(const NodeMerger&) = delete;
  NodeMerger& operator=(const NodeMerger&) = delete;

  // Ends the merge. On the first rank it waits until all cycles that this rank has noted are
  // merged. A trace that a rank no longer saves (the rank has closed, or died, or takes longer than
  // patience_ms) is left out and reported. Later calls do nothing, nor does a call in on_merged,
  // where the merger must not be destroyed, or in the child of a fork(). When the process exits, a
  // merger that is still open is closed after the session, with 5 s of patience at most.
  void close() { traceloom_node_merger_close(merger_); }

 private:
  std::unique_ptr<detail::MergeOptionsForC> options_;
  traceloom_node_merger* merger_ = nullptr;
};

}  // namespace traceloom
