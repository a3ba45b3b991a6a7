// The functions of traceloom_node_merge.h.
#include "node_merge/node_merger.h"
#include "node_merge/traceloom_node_merge.h"
#include "record/c_api_options.h"
#include "record/c_api_support.h"
#include "record/name_template.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace traceloom;
using namespace traceloom::record;

struct traceloom_node_merger {
  traceloom_node_merger(NodeMergeOptions options, const traceloom_options& from)
      : session(options_without_callback(from)),
        before(from.on_saved_trace),
        before_arg(from.on_saved_trace_arg),
        merger(std::move(options), session) {}

  // The merger is to set the callback alone: what the program has is called by the session.
  static Options options_without_callback(const traceloom_options& from) {
    Options options = options_of(&from);
    options.on_saved = {};
    return options;
  }

  Options session;
  void (*const before)(void* arg, const traceloom_saved_trace* trace);
  void* const before_arg;
  NodeMerger merger;
};

namespace {

// What it throws the session tells.
void note_saved(void* arg, const traceloom_saved_trace* trace) {
  const auto& node = *static_cast<const traceloom_node_merger*>(arg);
  if (node.before != nullptr) node.before(node.before_arg, trace);
  node.session.on_saved({position_of(trace->at), trace->path, trace->events, trace->dropped});
}

NodeMergeOptions merge_options_of(const traceloom_node_merge_options& given,
                                  const traceloom_options& session) {
  const traceloom_node_merge_options from =
      complete(given, traceloom_node_merge_options TRACELOOM_NODE_MERGE_OPTIONS_INIT,
               "traceloom_node_merge_options");
  NodeMergeOptions to;
  to.run_name = default_run_name();
  const RunIdentity run{to.run_name,
                        {session.rank, session.local_rank, session.world_size,
                         session.local_world_size, session.node_rank}};
  if (from.folder != nullptr) to.folder = NameTemplate(from.folder).expand(run);
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
    merger = new traceloom_node_merger(merge_options_of(*options, *session), *session);
    session->on_saved_trace = note_saved;
    session->on_saved_trace_arg = merger;
  });
  return merger;
}

int traceloom_node_merger_close(traceloom_node_merger* merger) {
  return guarded([&] {
    const std::unique_ptr<traceloom_node_merger> owned(merger);
    if (owned != nullptr) owned->merger.close();
  });
}

}  // extern "C"
