// The functions of traceloom_node_merge.h.
#include "node_merge/node_merger.h"
#include "node_merge/traceloom_node_merge.h"
#include "record/c/c_api_support.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

using namespace traceloom;
using namespace traceloom::record;

// The argument of the callback in a session's options. A program may use the options again, or
// close the session after the merger, so it is never freed.
struct traceloom_node_merger {
  void (*before)(void* arg, const traceloom_saved_trace* trace);
  void* before_arg;
  std::mutex mutex;
  std::shared_ptr<NodeMerger> merger;  // nullptr after it has been closed
  bool is_closing = false;
};

namespace {

traceloom_node_merger& new_merger(const traceloom_options& from) {
  static std::mutex mutex;
  static auto& mergers = *new std::deque<traceloom_node_merger>;  // some are used at exit
  const std::lock_guard lock(mutex);
  traceloom_node_merger& merger = mergers.emplace_back();
  merger.before = from.on_saved_trace;
  merger.before_arg = from.on_saved_trace_arg;
  return merger;
}

// If this throws, the session reports it.
void note_saved(void* arg, const traceloom_saved_trace* trace) {
  traceloom_node_merger& merger = *static_cast<traceloom_node_merger*>(arg);
  // The note is written even if the callback throws; otherwise this rank would be a cycle behind
  // the others from now on.
  call_both(
      [&] {
        if (merger.before != nullptr) merger.before(merger.before_arg, trace);
      },
      [&] {
        std::unique_lock lock(merger.mutex);
        const std::shared_ptr<NodeMerger> open = merger.is_closing ? nullptr : merger.merger;
        lock.unlock();
        if (open != nullptr)
          open->note({position_of(trace->at), trace->path, trace->events, trace->dropped});
      });
}

NodeMergeOptions merge_options_of(const traceloom_node_merge_options& given) {
  const traceloom_node_merge_options from =
      complete(&given, traceloom_node_merge_options TRACELOOM_NODE_MERGE_OPTIONS_INIT,
               "traceloom_node_merge_options");
  NodeMergeOptions to;
  if (from.folder != nullptr) to.folder = from.folder;
  if (from.file_name != nullptr) to.file_name = from.file_name;
  to.gzip_level = from.gzip_level == 0 ? 1 : from.gzip_level;
  to.threads = from.threads;
  to.patience_ms = from.patience_ms;
  if (from.on_merged != nullptr)
    to.on_merged = [tell = from.on_merged, arg = from.on_merged_arg](const NodeMerge& merge) {
      const traceloom_position at = position_for_c(merge.position);
      const traceloom_merged_trace trace{sizeof trace,         merge.cycle,  &at,
                                         merge.path.c_str(),   merge.events, merge.ranks,
                                         merge.problem.c_str()};
      tell(arg, &trace);
    };
  return to;
}

}  // namespace

extern "C" {

traceloom_node_merger* traceloom_node_merger_open(const traceloom_node_merge_options* options,
                                                  traceloom_options* session) {
  return made([&] {
    if (options == nullptr || session == nullptr)
      throw std::invalid_argument("a merge per node needs its options and those of the session");
    check_size(session->size, "traceloom_options");
    if (session->size < offsetof(traceloom_options, on_saved_trace_arg) + sizeof(void*))
      throw std::invalid_argument(
          "traceloom_options has no on_saved_trace: compile with the traceloom.h of this library");
    Options of_session = options_of(session);
    auto opened = std::make_shared<NodeMerger>(merge_options_of(*options), of_session);
    traceloom_node_merger& merger = new_merger(*session);
    merger.merger = std::move(opened);
    session->on_saved_trace = note_saved;
    session->on_saved_trace_arg = &merger;
    return &merger;
  });
}

int traceloom_node_merger_close(traceloom_node_merger* merger) {
  return guarded([&] {
    if (merger == nullptr) return;
    std::unique_lock lock(merger->mutex);
    const std::shared_ptr<NodeMerger> open = merger->merger;
    if (open == nullptr) return;
    if (open->is_calling())
      throw std::logic_error(
          "traceloom_node_merger_close() was called in on_merged, which would wait for itself; the "
          "merger is still open");
    merger->is_closing = true;
    lock.unlock();
    open->close();
    lock.lock();
    merger->merger = nullptr;
  });
}

}  // extern "C"
