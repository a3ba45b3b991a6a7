// The functions of traceloom_node_merge.h.
#include "node_merge/node_merger.h"
#include "node_merge/traceloom_node_merge.h"
#include "record/c/c_api_support.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

using namespace traceloom;
using namespace traceloom::record;

struct traceloom_node_merger {
  traceloom_node_merger(NodeMergeOptions options, const traceloom_options& from)
      : session(options_without_callback(from)), merger(std::move(options), session) {}

  // Leaves out the callback of the program, so that the merger sets its own alone: note_saved()
  // calls that of the program.
  static Options options_without_callback(const traceloom_options& from) {
    Options options = options_of(&from);
    options.on_saved = {};
    return options;
  }

  Options session;
  NodeMerger merger;
  void* link = nullptr;
};

namespace {

// The argument of the callback in a session's options. A program may use the options again, or
// close the session after the merger, so the link outlives both.
struct SavedLink {
  void (*before)(void* arg, const traceloom_saved_trace* trace);
  void* before_arg;
  std::mutex mutex;
  std::shared_ptr<traceloom_node_merger> merger;  // nullptr after the merger has been closed
};

SavedLink& new_link(const traceloom_options& from) {
  static std::mutex mutex;
  static auto& links = *new std::deque<SavedLink>;  // never destroyed: some are used at exit
  const std::lock_guard lock(mutex);
  SavedLink& link = links.emplace_back();
  link.before = from.on_saved_trace;
  link.before_arg = from.on_saved_trace_arg;
  return link;
}

void note_in(SavedLink& link, const traceloom_saved_trace* trace) {
  std::shared_ptr<traceloom_node_merger> merger;
  {
    const std::lock_guard lock(link.mutex);
    merger = link.merger;
  }
  if (merger != nullptr)
    merger->session.on_saved({position_of(trace->at), trace->path, trace->events, trace->dropped});
}

// If this throws, the session reports it.
void note_saved(void* arg, const traceloom_saved_trace* trace) {
  SavedLink& link = *static_cast<SavedLink*>(arg);
  // The note is written even if the callback throws; otherwise this rank would be a cycle behind
  // the others from now on.
  call_both(
      [&] {
        if (link.before != nullptr) link.before(link.before_arg, trace);
      },
      [&] { note_in(link, trace); });
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
  traceloom_node_merger* merger = nullptr;
  guarded([&] {
    if (options == nullptr || session == nullptr)
      throw std::invalid_argument("a merge per node needs its options and those of the session");
    check_size(session->size, "traceloom_options");
    if (session->size < offsetof(traceloom_options, on_saved_trace_arg) + sizeof(void*))
      throw std::invalid_argument(
          "traceloom_options has no on_saved_trace: compile with the traceloom.h of this library");
    const auto opened =
        std::make_shared<traceloom_node_merger>(merge_options_of(*options), *session);
    SavedLink& link = new_link(*session);
    link.merger = opened;
    opened->link = &link;
    session->on_saved_trace = note_saved;
    session->on_saved_trace_arg = &link;
    merger = opened.get();
  });
  return merger;
}

int traceloom_node_merger_close(traceloom_node_merger* merger) {
  return guarded([&] {
    if (merger == nullptr) return;
    SavedLink& link = *static_cast<SavedLink*>(merger->link);
    if (merger->merger.is_calling())
      throw std::logic_error(
          "traceloom_node_merger_close() was called in on_merged, which would wait for itself; the "
          "merger is still open");
    std::shared_ptr<traceloom_node_merger> owned;
    {
      const std::lock_guard lock(link.mutex);
      owned = std::move(link.merger);
    }
    owned->merger.close();
  });
}

}  // extern "C"
