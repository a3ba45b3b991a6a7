/* The recorder for programs in C, and for whatever can call C. recorder.h describes what it does,
 * and its parts are inline calls of these functions: the library has no other interface.
 *
 *   traceloom_options options = TRACELOOM_OPTIONS_INIT;
 *   options.folder = "traces";
 *   traceloom_session* session = traceloom_open(&options);
 *   if (session == NULL) fprintf(stderr, "%s\n", traceloom_last_error());
 *   traceloom_marker* forward = traceloom_marker_new("forward", "model", 0, 0);
 *   traceloom_span span = traceloom_begin(forward);
 *   ...
 *   traceloom_end(forward, span);
 *   traceloom_close(session);
 *
 * Markers, counters, samples of the host and of memory work at any time, and are recorded while a
 * session is open. For one trace of all ranks of a node see traceloom_node_merge.h.
 *
 * Threads: functions may be called from any thread unless recorder.h or a part of it says otherwise
 * of what they do.
 *
 * Errors: a function that returns int returns 0 on success; otherwise traceloom_last_error() says
 * what was wrong. Null handles are accepted, and nothing is done with them.
 *
 * Texts are UTF-8 and are copied.
 *
 * fork(): in the child the session is closed. Calls with it do nothing, and a new one may be
 * opened.
 */
#ifndef TRACELOOM_H
#define TRACELOOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Names as C has them. NOLINTBEGIN(readability-identifier-naming) */

/* The major number changes when programs have to be compiled anew. */
#define TRACELOOM_VERSION_MAJOR 0
#define TRACELOOM_VERSION_MINOR 1

#if defined(__GNUC__)
#define TRACELOOM_API __attribute__((visibility("default")))
#else
#define TRACELOOM_API
#endif

#ifdef __cplusplus
#define TRACELOOM_BYTE(number) static_cast<uint8_t>(number)
extern "C" {
#else
#define TRACELOOM_BYTE(number) ((uint8_t)(number))
#endif

typedef struct traceloom_session traceloom_session;
typedef struct traceloom_marker traceloom_marker;
typedef struct traceloom_counter traceloom_counter;
typedef struct traceloom_host traceloom_host;
typedef struct traceloom_memory traceloom_memory;
typedef struct traceloom_memory_scope traceloom_memory_scope;

enum traceloom_action {
  TRACELOOM_SKIP = 0,
  TRACELOOM_WARMUP = 1,
  TRACELOOM_ACTIVE = 2,
  TRACELOOM_ACTIVE_AND_SAVE = 3
};

/* The actions under which a marker records, for traceloom_marker_new(); 0 is the last three. */
#define TRACELOOM_IN(action) (1U << (action))
#define TRACELOOM_NEVER (1U << 31) /* no action at all */
enum traceloom_marker_flags {
  TRACELOOM_INSTANT_ON_START = 1,
  TRACELOOM_INSTANT_ON_FINISH = 2,
  TRACELOOM_LONG_RUNNING = 4
};

enum traceloom_when_full { TRACELOOM_DROP = 0, TRACELOOM_RING = 1, TRACELOOM_BLOCK = 2 };
enum traceloom_clock {
  TRACELOOM_CLOCK_AUTOMATIC = 0,
  TRACELOOM_CLOCK_MONOTONIC = 1,
  TRACELOOM_CLOCK_TSC = 2 /* the processor's counter, whatever clock the kernel uses */
};
enum traceloom_duration_part {
  TRACELOOM_WHOLE = 0,
  TRACELOOM_BEGIN = 1, /* a long-running marker has begun; its end comes later */
  TRACELOOM_END = 2    /* the end of one whose begin was handed over in this cycle */
};

enum traceloom_instant_part {
  TRACELOOM_MOMENT = 0,
  TRACELOOM_ASYNC_BEGIN = 1, /* an async span has begun, maybe in another thread than it ends in */
  TRACELOOM_ASYNC_END = 2
};

/* Counts of what has been completed. Set `size` to sizeof(traceloom_position), or begin with
 * TRACELOOM_POSITION_INIT. */
typedef struct traceloom_position {
  uint32_t size;
  uint64_t epoch, batch, batch_in_epoch;
  uint64_t sample, sample_in_epoch, token, token_in_epoch;
  double total_wct, epoch_wct, batch_wct; /* seconds */
  int64_t epoch_batches;                  /* -1: not known */
} traceloom_position;
#define TRACELOOM_POSITION_INIT \
  { sizeof(traceloom_position), 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, -1 }

/* The events that handlers get are as in trace_handler.h. All of an event is valid during the call
 * only. Times are nanoseconds since 1970; `label` is one number for all events of a marker or
 * counter, 1, 2, ... */
typedef struct traceloom_duration_event {
  uint32_t size;
  uint32_t label;
  const char* name;
  const char* categories;
  const char* thread_name;
  int64_t tid;
  int64_t begin_ns, duration_ns; /* duration_ns is 0 in a TRACELOOM_BEGIN */
  uint32_t epoch, batch;
  int part;              /* enum traceloom_duration_part */
  const char* args_json; /* its arguments, {"bytes":1024}; "" without any */
  /* In a whole event of a long-running marker whose begin was handed over in an earlier cycle: a
   * number that stands for it in the files of both. 0 in all others. */
  uint64_t cut_id;
} traceloom_duration_event;

typedef struct traceloom_instant_event {
  uint32_t size;
  uint32_t label;
  const char* name;
  const char* categories;
  const char* thread_name;
  int64_t tid;
  int64_t at_ns;
  uint32_t epoch, batch;
  int part;    /* enum traceloom_instant_part */
  uint64_t id; /* of an async span: that of its other end, which has the same label */
  const char* args_json;
} traceloom_instant_event;

typedef struct traceloom_counter_event {
  uint32_t size;
  uint32_t label;
  const char* name;
  const char* categories;
  const char* thread_name;
  int64_t tid;
  int64_t at_ns;
  const char* const* keys; /* all of the counter; NULL after the last */
  const double* values;    /* those of the first keys, as many as were given */
  size_t count;
} traceloom_counter_event;

typedef struct traceloom_metadata_event {
  uint32_t size;
  const char* name;
  const char* args_json; /* {"value":3} */
  int64_t tid;
  int64_t at_ns;
} traceloom_metadata_event;

typedef struct traceloom_cycle_info {
  uint32_t size;
  int64_t rank;
  uint64_t number; /* 0, 1, 2, ... */
  /* The file, "" without one. While the cycle is recorded, it carries the name it had at its
   * beginning with ".unfinished" before ".json" (and a number, should another session take that
   * name first). From end_cycle on this is its final name. */
  const char* path;
} traceloom_cycle_info;

/* A handler gets events in addition to the files. Its functions may be NULL. The recorder's own
 * thread calls them, never the threads that record. They return 0; a handler that returns anything
 * else gets no more of this cycle, and status.last_error says so. Begin with
 * TRACELOOM_HANDLER_INIT.
 *
 * Handlers, on_saved and on_saved_trace may record, and ask the session for its status and action.
 * In them, traceloom_flush() and traceloom_wait_saved() do not wait, traceloom_close() fails, and
 * batches and positions must not be set: they belong to another thread. schedule, barrier and log
 * must not call functions of the session at all. */
typedef struct traceloom_handler {
  uint32_t size;
  void* arg; /* the argument of all functions; lives as long as the session */
  int (*begin_cycle)(void* arg, const traceloom_cycle_info* cycle);
  int (*duration)(void* arg, const traceloom_duration_event* event);
  int (*instant)(void* arg, const traceloom_instant_event* event);
  int (*counter)(void* arg, const traceloom_counter_event* event);
  int (*metadata)(void* arg, const traceloom_metadata_event* event);
  int (*external_trace)(void* arg, const char* path);
  int (*flush)(void* arg);
  int (*end_cycle)(void* arg, const traceloom_cycle_info* cycle);
} traceloom_handler;
#define TRACELOOM_HANDLER_INIT \
  { sizeof(traceloom_handler), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* A file that is complete; valid during the call only. */
typedef struct traceloom_saved_trace {
  uint32_t size;
  const traceloom_position* at; /* the position at its end */
  const char* path;             /* "" if none could be made */
  uint64_t events;              /* recorded ones: without metadata and those of external traces */
  uint64_t dropped;             /* events that found no room */
} traceloom_saved_trace;

/* Begin with TRACELOOM_OPTIONS_INIT. A program that was compiled with an older version gives a
 * smaller `size`, and the other members are as if they had not been set. */
typedef struct traceloom_options {
  uint32_t size;
  /* -1: what torchrun, MPI or Slurm say in the environment, if one of them says it. */
  int64_t rank, local_rank, node_rank, world_size, local_world_size;
  /* Both may have {run_name} {rank} {local_rank} {world_size} {local_world_size} {node_rank}, and
   * the name of a file, which is that of its end, also {epoch} {batch} {batch_in_epoch} {sample}
   * {sample_in_epoch} {token} {token_in_epoch} and, in seconds, {total_wct} {epoch_wct}
   * {batch_wct}. {batch:06} fills a whole number up with zeros. {{ and }} are braces. An unknown
   * placeholder stays as it is. */
  const char* folder;    /* NULL: "traces" */
  const char* file_name; /* NULL: "ep{epoch}-ba{batch}-rank{rank}.json" */
  int gzip_level;        /* 0 to 9, for names that end in .gz */
  int overwrite;
  int64_t num_traces_to_keep;                               /* -1: all */
  int (*schedule)(void* arg, const traceloom_position* at); /* NULL: all is recorded */
  void* schedule_arg;
  void (*barrier)(void* arg); /* NULL: no clock sync */
  void* barrier_arg;
  uint32_t sync_rounds;
  int sync_at_end;
  uint64_t pool_bytes, max_pool_bytes;
  int when_full; /* enum traceloom_when_full */
  uint32_t block_ms, flush_ms;
  const char* journal_folder; /* NULL: none */
  void (*log)(void* arg, const char* line);
  void* log_arg;
  /* Called in the writing thread when a file is complete; `path` is valid during the call. */
  void (*on_saved)(void* arg, const char* path, uint64_t events, uint64_t dropped);
  void* on_saved_arg;
  /* `handler_count` pointers; what they point to is copied. */
  const traceloom_handler* const* handlers;
  size_t handler_count;
  int write_json;                  /* 0: no files, only the handlers get the events */
  int clock;                       /* enum traceloom_clock */
  const traceloom_position* start; /* where a resumed run starts; NULL: all 0 */
  /* Called after on_saved, in the same way, with the position of the training. */
  void (*on_saved_trace)(void* arg, const traceloom_saved_trace* trace);
  void* on_saved_trace_arg;
  int is_beside_rank; /* this process is not the rank itself but, say, a worker */
  /* Names a file, in place of file_name; the text is copied when it returns. */
  const char* (*name_file)(void* arg, const traceloom_position* at);
  void* name_file_arg;
  /* traceloom_node_merger_open() sets these; called after on_saved_trace, in the same way. */
  void (*note_saved)(void* arg, const traceloom_saved_trace* trace);
  void* note_saved_arg;
} traceloom_options;
#define TRACELOOM_OPTIONS_INIT                                                                   \
  {                                                                                              \
    sizeof(traceloom_options), -1, -1, -1, -1, -1, NULL, NULL, 1, 0, -1, NULL, NULL, NULL, NULL, \
        16, 1, UINT64_C(8) << 20, UINT64_C(64) << 20, 0, 10, 100, NULL, NULL, NULL, NULL, NULL,  \
        NULL, 0, 1, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL                               \
  }

/* A few batches are recorded now and then, as by Composer's cyclic schedule; schedule.h describes
 * the members.
 *
 *   traceloom_cycle cycle = TRACELOOM_CYCLE_INIT;
 *   options.schedule = traceloom_cyclic_schedule;
 *   options.schedule_arg = &cycle;                   (must live as long as the session)
 */
typedef struct traceloom_cycle {
  uint32_t size;
  int64_t skip_first, wait, warmup, active, repeat;
  int64_t resumed_at, resumed_epoch; /* resumed_epoch -1: not known */
} traceloom_cycle;
#define TRACELOOM_CYCLE_INIT \
  { sizeof(traceloom_cycle), 0, 0, 1, 4, 1, 0, -1 }

/* Begin with TRACELOOM_STATUS_INIT. */
typedef struct traceloom_status {
  uint32_t size;
  uint64_t events, dropped, lost, misuses, bytes, peak_pool_bytes;
  char clock[16];       /* "tsc" or "monotonic" */
  char last_error[512]; /* the last problem, cut if it is longer; "" while all is well */
} traceloom_status;
#define TRACELOOM_STATUS_INIT \
  { sizeof(traceloom_status), 0, 0, 0, 0, 0, 0, "", "" }

/* The sampler records what the machine and this process do meanwhile, as the counters that
 * host_recorder.h lists. Begin with TRACELOOM_HOST_OPTIONS_INIT. */
typedef struct traceloom_host_options {
  uint32_t size;
  int cpu, memory, disk, network; /* the machine's: one process of a node is enough */
  int process;                    /* CPU time and memory of this process */
  int64_t interval_ns;
  int gpu; /* the machine's NVIDIA GPUs, where their driver is there */
} traceloom_host_options;
#define TRACELOOM_HOST_OPTIONS_INIT \
  { sizeof(traceloom_host_options), 1, 1, 1, 1, 1, 500000000, 1 }

/* One end of a memory scope; valid during the call only. Sizes are bytes. */
typedef struct traceloom_memory_snapshot {
  uint32_t size;
  const char* key; /* "0.training_step.2.start" */
  int64_t time_ns, rss, vms;
  size_t counter_count;         /* number of the program's own counters */
  const char* const* counters;  /* their names */
  const int64_t* counter_bytes; /* the sum of what has been added to each so far */
} traceloom_memory_snapshot;

/* Memory scopes measure what a part of the program does to the memory of its process;
 * memory_scope.h describes the file. Begin with TRACELOOM_MEMORY_OPTIONS_INIT. */
typedef struct traceloom_memory_options {
  uint32_t size;
  const char* path; /* YAML, or JSON if the name ends in .json; NULL: no file */
  int overwrite;
  int64_t rank;
  int64_t warmup_iterations; /* iterations left out at the begin of each scope */
  int64_t max_iterations;    /* the last one that is recorded, from 1 on; -1: all */
  int counters; /* not 0: memory/rss, memory/vms, memory/bytes/NAME in the trace as well */
  /* Called in the thread of the scope. */
  void (*on_snapshot)(void* arg, const traceloom_memory_snapshot* snapshot);
  void* on_snapshot_arg;
} traceloom_memory_options;
#define TRACELOOM_MEMORY_OPTIONS_INIT \
  { sizeof(traceloom_memory_options), NULL, 0, 0, 1, -1, 0, NULL, NULL }

/* The memory that a scope added to the process, over its recorded iterations, in bytes. Begin with
 * TRACELOOM_MEMORY_GROWTH_INIT. */
typedef struct traceloom_memory_growth {
  uint32_t size;
  int64_t iterations, rss_sum, rss_min, rss_max, rss_last;
} traceloom_memory_growth;
#define TRACELOOM_MEMORY_GROWTH_INIT \
  { sizeof(traceloom_memory_growth), 0, 0, 0, 0, 0 }

/* A duration that has begun; `begin` is 0 if it is not recorded. */
typedef struct traceloom_span {
  uint64_t begin;
  uint64_t position;
} traceloom_span;

/* An argument of an event, made by one of the functions below; a text keeps 30 bytes. */
enum traceloom_arg_kind {
  TRACELOOM_NO_ARG = 0,
  TRACELOOM_INTEGER = 1,
  TRACELOOM_NUMBER = 2,
  TRACELOOM_TEXT = 3
};
typedef struct traceloom_arg {
  char bytes[30];
  uint8_t size, kind; /* kind: enum traceloom_arg_kind */
} traceloom_arg;
static inline traceloom_arg traceloom_integer(int64_t value) {
  traceloom_arg arg = {{0}, sizeof value, TRACELOOM_INTEGER};
  memcpy(arg.bytes, &value, sizeof value);
  return arg;
}
static inline traceloom_arg traceloom_number(double value) {
  traceloom_arg arg = {{0}, sizeof value, TRACELOOM_NUMBER};
  memcpy(arg.bytes, &value, sizeof value);
  return arg;
}
static inline traceloom_arg traceloom_text_of(const char* value, size_t size) {
  traceloom_arg arg = {{0}, 0, TRACELOOM_TEXT};
  arg.size = TRACELOOM_BYTE(size < sizeof arg.bytes ? size : sizeof arg.bytes);
  if (size > 0) memcpy(arg.bytes, value, arg.size);
  return arg;
}
static inline traceloom_arg traceloom_text(const char* value) {
  return traceloom_text_of(value, value ? strlen(value) : 0);
}

/* Returns the version of the library, such as "0.1.0"; compare with TRACELOOM_VERSION_*. */
TRACELOOM_API const char* traceloom_version(void);
/* Returns the error of the last call in this thread that failed, cut after 1023 bytes; never NULL.
 * It is valid until the next call that fails. */
TRACELOOM_API const char* traceloom_last_error(void);

/* Sets the five numbers of this process's place in the run to what torchrun, MPI or Slurm say in
 * the environment; without any of them it is rank 0 of 1. A program needs this only to know the
 * numbers: with -1 the session asks for them itself. */
TRACELOOM_API int traceloom_place_from_environment(traceloom_options* options);
/* Serves as options.schedule. A bad cycle is an error of traceloom_open(), and of the check. */
TRACELOOM_API int traceloom_cyclic_schedule(void* cycle, const traceloom_position* at);
TRACELOOM_API int traceloom_check_cycle(const traceloom_cycle* cycle);

/* Returns NULL if it fails. A process has one session at a time. One thread must call
 * traceloom_batch_begin(), traceloom_batch_end(), traceloom_set_position() and traceloom_close().
 */
TRACELOOM_API traceloom_session* traceloom_open(const traceloom_options* options);
/* Does the same, but a session that cannot be opened follows its schedule and meets at its barrier
 * all the same, so that other ranks do not wait for this one. It writes nothing, and is not open;
 * its status and the log say why. Returns NULL only without memory. */
TRACELOOM_API traceloom_session* traceloom_open_or_follow(const traceloom_options* options);
/* Returns 0 for a session that was refused or has ended, and in the child of a fork(). */
TRACELOOM_API int traceloom_is_open(const traceloom_session* session);
/* Ends the cycle, waits for the files and frees the session, also if it fails. Only within a call
 * that the session makes (see traceloom_handler) it does nothing, and returns an error. It also
 * returns an error if events are lost that could not be written: the files say how many. */
TRACELOOM_API int traceloom_close(traceloom_session* session);
/* Ends the cycle and waits for the files, as traceloom_close() does, but the session still answers
 * what it has saved and lost. traceloom_free() frees it, and ends it if that has not been done, but
 * without its barrier: this may be an error on one rank only. Within a call that the session makes
 * both do nothing. */
TRACELOOM_API int traceloom_stop(traceloom_session* session);
TRACELOOM_API void traceloom_free(traceloom_session* session);
TRACELOOM_API int traceloom_batch_begin(traceloom_session* session, const traceloom_position* at);
TRACELOOM_API int traceloom_batch_end(traceloom_session* session, const traceloom_position* at);
TRACELOOM_API int traceloom_set_position(traceloom_session* session, const traceloom_position* at);
TRACELOOM_API int traceloom_current_action(const traceloom_session* session); /* -1: NULL */
TRACELOOM_API int traceloom_record_chrome_json_trace_file(traceloom_session* session,
                                                          const char* path);
TRACELOOM_API int traceloom_flush(traceloom_session* session);
/* Returns 1 once all cycles that have ended are complete files, and 0 after `timeout_ms`. */
TRACELOOM_API int traceloom_wait_saved(traceloom_session* session, uint32_t timeout_ms);
/* Calls `tell` in this thread for each file that is complete and still exists, oldest first. Files
 * that are completed by traceloom_close(), which frees the session, are reported by on_saved and
 * on_saved_trace only. */
TRACELOOM_API int traceloom_saved_traces(const traceloom_session* session,
                                         void (*tell)(void* arg,
                                                      const traceloom_saved_trace* trace),
                                         void* arg);
TRACELOOM_API int traceloom_get_status(const traceloom_session* session, traceloom_status* status);

/* Returns NULL only without memory. Markers are never freed: equal ones are one. */
TRACELOOM_API traceloom_marker* traceloom_marker_new(const char* name, const char* categories,
                                                     uint32_t actions, uint32_t flags);
/* The same with arguments: their names, with commas between them, at most 8. */
TRACELOOM_API traceloom_marker* traceloom_marker_with(const char* name, const char* categories,
                                                      uint32_t actions, uint32_t flags,
                                                      const char* args);
TRACELOOM_API traceloom_span traceloom_begin(traceloom_marker* marker);
TRACELOOM_API void traceloom_end(traceloom_marker* marker, traceloom_span span);
/* The same with a value for each argument of the marker, in their order. */
TRACELOOM_API void traceloom_end_with(traceloom_marker* marker, traceloom_span span,
                                      const traceloom_arg* args, size_t count);
/* Records a duration that the program has measured itself; `begin_ns` is on CLOCK_MONOTONIC. */
TRACELOOM_API void traceloom_record_span(traceloom_marker* marker, int64_t begin_ns,
                                         int64_t duration_ns, const traceloom_arg* args,
                                         size_t count);
/* A span that may end in another thread and overlap others; `id` is its own among those of this
 * marker that are open. */
TRACELOOM_API void traceloom_async_begin(traceloom_marker* marker, uint64_t id,
                                         const traceloom_arg* args, size_t count);
TRACELOOM_API void traceloom_async_end(traceloom_marker* marker, uint64_t id);
/* These do the same as a pair without a handle, in one thread. */
TRACELOOM_API void traceloom_start(traceloom_marker* marker);
TRACELOOM_API void traceloom_finish(traceloom_marker* marker);
TRACELOOM_API void traceloom_instant(traceloom_marker* marker);
TRACELOOM_API void traceloom_instant_with(traceloom_marker* marker, const traceloom_arg* args,
                                          size_t count);

/* Does the same for a counter. Returns NULL if `keys` is NULL and `key_count` is not 0. If there
 * are more than 64 keys, the first 64 count. */
TRACELOOM_API traceloom_counter* traceloom_counter_new(const char* name, const char* categories,
                                                       const char* const* keys, size_t key_count,
                                                       uint32_t actions);
TRACELOOM_API void traceloom_count(traceloom_counter* counter, const double* values, size_t count);

TRACELOOM_API void traceloom_set_thread_name(const char* name);

/* Sets which part of the sampling belongs to this process: the first process of a node
 * (place->local_rank, or what its launcher says) samples the machine, and each samples itself. */
TRACELOOM_API int traceloom_host_share(traceloom_host_options* options,
                                       const traceloom_options* place);
/* Starts a thread that samples at the interval; what it finds is recorded while a session records.
 * Returns NULL if it fails: an interval below 1 ms, no thread. NULL options are the defaults. */
TRACELOOM_API traceloom_host* traceloom_host_start(const traceloom_host_options* options);
/* Returns the files that cannot be read, such as "/proc/diskstats", one after the other, and NULL
 * after the last. The texts are valid until the stop. */
TRACELOOM_API const char* traceloom_host_missing(const traceloom_host* host, size_t i);
/* Samples once more, so that the end of the run is covered, and stops. Call it before
 * traceloom_close(). */
TRACELOOM_API int traceloom_host_stop(traceloom_host* host);

/* Returns NULL if it fails: the file exists, or cannot be made. */
TRACELOOM_API traceloom_memory* traceloom_memory_open(const traceloom_memory_options* options);
/* Begins a scope. Its end has to come, maybe in another thread: it frees the scope. Returns NULL
 * if it fails. */
TRACELOOM_API traceloom_memory_scope* traceloom_memory_begin(traceloom_memory* memory,
                                                             const char* scope);
TRACELOOM_API int traceloom_memory_end(traceloom_memory_scope* scope);
/* Changes a counter of the program's own; negative bytes are given back. */
TRACELOOM_API int traceloom_memory_add_bytes(traceloom_memory* memory, const char* counter,
                                             int64_t bytes);
/* Sets all to 0 for a scope that has not been recorded. */
TRACELOOM_API int traceloom_memory_get_growth(const traceloom_memory* memory, const char* scope,
                                              traceloom_memory_growth* growth);
/* Waits until the disk has the file. The file is complete after every scope's begin and end,
 * whatever becomes of the process. Also returns an error if a part of it could not be written
 * before. */
TRACELOOM_API int traceloom_memory_flush(traceloom_memory* memory);
/* Returns the same error. Scopes that are open may still end, and are in the file. */
TRACELOOM_API int traceloom_memory_close(traceloom_memory* memory);

#if defined(__GNUC__) && !defined(__cplusplus)
/* From here to the end of the block: TRACELOOM_SCOPE("forward"); TRACELOOM_SCOPE("h2d", "copy"); */
typedef struct traceloom_scope {
  traceloom_marker* marker;
  traceloom_span span;
} traceloom_scope;
static inline traceloom_scope traceloom_scope_begin(traceloom_marker** marker,
                                                    const char* const* texts) {
  traceloom_scope scope = {__atomic_load_n(marker, __ATOMIC_ACQUIRE), {0, 0}};
  if (scope.marker == NULL) {
    scope.marker = traceloom_marker_new(texts[0], texts[1], 0, 0);
    __atomic_store_n(marker, scope.marker, __ATOMIC_RELEASE);
  }
  scope.span = traceloom_begin(scope.marker);
  return scope;
}
static inline void traceloom_scope_end(traceloom_scope* scope) {
  traceloom_end(scope->marker, scope->span);
}
#define TRACELOOM_JOIN_(a, b) a##b
#define TRACELOOM_JOIN(a, b) TRACELOOM_JOIN_(a, b)
#define TRACELOOM_SCOPE(...)                                                  \
  static traceloom_marker* TRACELOOM_JOIN(traceloom_marker_, __LINE__);       \
  traceloom_scope TRACELOOM_JOIN(traceloom_scope_, __LINE__)                  \
      __attribute__((cleanup(traceloom_scope_end), unused)) =                 \
          traceloom_scope_begin(&TRACELOOM_JOIN(traceloom_marker_, __LINE__), \
                                (const char* const[]){__VA_ARGS__, "", ""})
#endif

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */

#endif
