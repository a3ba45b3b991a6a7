/* What a program in C has beside markers: handlers, samples of the host, memory scopes. */
#include <stdio.h>
#include <string.h>
#include <traceloom.h>

#define CHECK(what)                                                     \
  do {                                                                  \
    if (!(what)) {                                                      \
      fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #what,            \
              traceloom_last_error());                                  \
      return 1;                                                         \
    }                                                                   \
  } while (0)

struct seen {
  int durations, counters, cycles, samples;
};

static int on_duration(void* arg, const traceloom_duration_event* event) {
  if (strcmp(event->name, "step") == 0) ++((struct seen*)arg)->durations;
  return 0;
}

static int on_counter(void* arg, const traceloom_counter_event* event) {
  if (event->count > 0 && strncmp(event->name, "memory/", 7) == 0) ++((struct seen*)arg)->counters;
  return 0;
}

static int on_end(void* arg, const traceloom_cycle_info* cycle) {
  if (cycle->path[0] != '\0') ++((struct seen*)arg)->cycles;
  return 0;
}

static void on_snapshot(void* arg, const traceloom_memory_snapshot* snapshot) {
  if (snapshot->counter_count == 1) ++((struct seen*)arg)->samples;
}

int main(int argc, char** argv) {
  struct seen seen = {0, 0, 0, 0};
  char path[4096];
  int i;
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  traceloom_handler handler = TRACELOOM_HANDLER_INIT;
  const traceloom_handler* handlers[1];
  traceloom_host_options host_options = TRACELOOM_HOST_OPTIONS_INIT;
  traceloom_memory_options memory_options = TRACELOOM_MEMORY_OPTIONS_INIT;
  traceloom_memory_growth growth = TRACELOOM_MEMORY_GROWTH_INIT;
  traceloom_status status = TRACELOOM_STATUS_INIT;
  traceloom_session* session;
  traceloom_host* host;
  traceloom_memory* memory;
  traceloom_marker* step = traceloom_marker_new("step", "", 0, 0);

  CHECK(argc == 2);
  handler.arg = &seen;
  handler.duration = on_duration;
  handler.counter = on_counter;
  handler.end_cycle = on_end;
  handlers[0] = &handler;
  options.folder = argv[1];
  options.file_name = "c-extras-rank{rank}.json";
  options.overwrite = 1;
  options.handlers = handlers;
  options.handler_count = 1;
  session = traceloom_open(&options);
  CHECK(session != NULL);

  CHECK(traceloom_host_share(&host_options, &options) == 0);
  host_options.interval_ns = 1;
  CHECK(traceloom_host_start(&host_options) == NULL);
  host_options.interval_ns = 10000000;
  host = traceloom_host_start(&host_options);
  CHECK(host != NULL);

  CHECK(snprintf(path, sizeof path, "%s/.c_memory_stats.json", argv[1]) < (int)sizeof path);
  memory_options.path = path;
  memory_options.overwrite = 1;
  memory_options.counters = 1;
  memory_options.on_snapshot = on_snapshot;
  memory_options.on_snapshot_arg = &seen;
  memory = traceloom_memory_open(&memory_options);
  CHECK(memory != NULL);
  CHECK(traceloom_memory_add_bytes(memory, "saved", 4096) == 0);
  for (i = 0; i < 3; ++i) {
    traceloom_memory_scope* scope = traceloom_memory_begin(memory, "step");
    traceloom_end(step, traceloom_begin(step));
    CHECK(traceloom_memory_end(scope) == 0);
  }
  CHECK(traceloom_memory_flush(memory) == 0);
  growth.size = sizeof growth;
  CHECK(traceloom_memory_get_growth(memory, "step", &growth) == 0);
  CHECK(growth.iterations == 2);
  CHECK(traceloom_memory_close(memory) == 0);
  CHECK(traceloom_host_stop(host) == 0);
  status.size = sizeof status;
  CHECK(traceloom_get_status(session, &status) == 0);
  CHECK(status.last_error[0] == '\0' && status.clock[0] != '\0');
  CHECK(traceloom_close(session) == 0);
  CHECK(seen.durations == 3 && seen.cycles == 1 && seen.samples == 4);
  CHECK(seen.counters >= 4 * 3 + 2); /* memory/rss, /vms and /bytes/saved; and the host's */
  return 0;
}
