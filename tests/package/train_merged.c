/* A node of one rank: train_merged_c FOLDER writes FOLDER/ranks and FOLDER/merged/node0.json. */
#include <stdio.h>
#include <string.h>
#include <traceloom_node_merge.h>

struct seen {
  char path[4096];
  uint64_t events;
  int is_whole;
};

static void on_merged(void* arg, const traceloom_merged_trace* trace) {
  struct seen* seen = arg;
  strncpy(seen->path, trace->path, sizeof seen->path - 1);
  seen->events = trace->events;
  seen->is_whole = trace->ranks == 1 && trace->problem[0] == '\0';
}

int main(int argc, char** argv) {
  static struct seen seen;
  static char ranks[4000], merged[4000], wanted[4096];
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  traceloom_node_merge_options merge = TRACELOOM_NODE_MERGE_OPTIONS_INIT;
  traceloom_node_merger* merger;
  traceloom_session* session;
  traceloom_marker* work = traceloom_marker_new("work", "test", 0, 0);
  int i;
  if (argc != 2) return 2;
  snprintf(ranks, sizeof ranks, "%s/ranks", argv[1]);
  snprintf(merged, sizeof merged, "%s/merged", argv[1]);
  snprintf(wanted, sizeof wanted, "%s/node0.json", merged);
  options.folder = ranks;
  options.overwrite = 1;
  options.local_world_size = 1;
  merge.folder = merged;
  merge.file_name = "node{node_rank}.json";
  merge.on_merged = on_merged;
  merge.on_merged_arg = &seen;
  merger = traceloom_node_merger_open(&merge, &options);
  session = merger == NULL ? NULL : traceloom_open(&options);
  if (session == NULL) {
    fprintf(stderr, "%s\n", traceloom_last_error());
    return 1;
  }
  for (i = 0; i < 3; ++i) traceloom_end(work, traceloom_begin(work));
  if (traceloom_close(session) != 0 || traceloom_node_merger_close(merger) != 0) return 3;
  return strcmp(seen.path, wanted) == 0 && seen.is_whole && seen.events == 3 ? 0 : 4;
}
