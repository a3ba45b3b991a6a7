/* The merge per node for programs in C: one trace of all ranks of a node, which grows by a cycle
 * at a time while the training goes on. node_merger.h describes what it does; link
 * libtraceloom_node_merge as well.
 *
 *   traceloom_options options = TRACELOOM_OPTIONS_INIT;
 *   traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
 *   traceloom_node_merger* merger = traceloom_node_merger_open(&merge, &options);
 *   traceloom_session* session = traceloom_open(&options);
 *   ...
 *   traceloom_close(session);
 *   traceloom_node_merger_close(merger);                        the last cycle is merged
 *
 * Errors, texts and sizes are as in traceloom.h.
 */
#ifndef TRACELOOM_NODE_MERGE_H
#define TRACELOOM_NODE_MERGE_H

#include "record/traceloom.h"

#include <stddef.h>
#include <stdint.h>

/* Names as C has them. NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct traceloom_node_merger traceloom_node_merger;

/* The result of merging a cycle; valid during the call only. */
typedef struct traceloom_merged_trace {
  uint32_t size;
  uint64_t cycle;               /* the session's cycle, from 0 */
  const traceloom_position* at; /* the end of the cycle */
  const char* path;             /* "": there is no merged trace of it */
  uint64_t events;              /* in the trace, without metadata */
  int64_t ranks;                /* number of ranks whose cycle is in it */
  const char* problem;          /* what is missing, and why; "" if all ranks are in it */
} traceloom_merged_trace;

/* Begin with TRACELOOM_NODE_MERGE_OPTIONS_INIT. */
typedef struct traceloom_node_merge_options {
  uint32_t size;
  const char* folder; /* for the merged trace, with placeholders; NULL: that of the traces */
  const char*
      file_name;    /* with {epoch} or {batch} in it one a cycle; NULL: "node{node_rank}.json" */
  int gzip_level;   /* 0 to 9, for names that end in .gz */
  uint32_t threads; /* 1: the background thread alone */
  uint32_t patience_ms; /* time that closing waits for ranks at work */
  /* Called in the background thread, and only on the first rank of a node. */
  void (*on_merged)(void* arg, const traceloom_merged_trace* trace);
  void* on_merged_arg;
  const char* run_name; /* for {run_name}; NULL: that of the environment */
} traceloom_node_merge_options;
#define TRACELOOM_NODE_MERGE_OPTIONS_INIT \
  { sizeof(traceloom_node_merge_options), NULL, NULL, 1, 1, 60000, NULL, NULL, NULL }

/* Call this before traceloom_open(), on every rank of the node. It sets note_saved of the session's
 * options. The options may be used again, for another session with a merger of its own. Returns
 * NULL if it fails. */
TRACELOOM_API traceloom_node_merger* traceloom_node_merger_open(
    const traceloom_node_merge_options* options, traceloom_options* session);
/* Returns an error if the session writes no traces or does not say its ranks, and if an archive
 * (.tar) would have to grow; opening a merger checks the same. */
TRACELOOM_API int traceloom_node_merge_check(const traceloom_node_merge_options* options,
                                             const traceloom_options* session);
/* Call this after traceloom_close(). It waits until all cycles of the session are merged. What the
 * session saves later is not merged, and its status says so. Within on_merged it does nothing
 * and returns an error. When the process exits, an open merger is closed in the same way, after
 * the session, but waits for other ranks for 5 s at most. */
TRACELOOM_API int traceloom_node_merger_close(traceloom_node_merger* merger);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */

#endif
