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

static int batches_met = 0;

static void meet(void* arg) {
  ++*(int*)arg;
}

static int schedule(void* arg, const traceloom_position* at) {
  (void)arg;
  return at->batch == 4 ? TRACELOOM_ACTIVE_AND_SAVE : TRACELOOM_ACTIVE;
}

int main(int argc, char** argv) {
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  traceloom_position at = TRACELOOM_POSITION_INIT;
  traceloom_session* session;
  traceloom_marker* batch;
  traceloom_marker* epoch;
  traceloom_counter* counter;
  traceloom_status status = TRACELOOM_STATUS_INIT;
  const char* keys[2] = {"used", "free"};
  const double values[2] = {1.5, 2};

  CHECK(argc == 2);
  CHECK(strcmp(traceloom_version(), "0.1.0") == 0);
  options.folder = "/dev/null/none";
  CHECK(traceloom_open(&options) == NULL);
  CHECK(strcmp(traceloom_last_error(), "/dev/null/none: Not a directory") == 0);

  options.folder = argv[1];
  options.file_name = "c-ba{batch}-rank{rank}.json";
  options.rank = 2;
  options.overwrite = 1;
  options.schedule = schedule;
  options.barrier = meet;
  options.barrier_arg = &batches_met;
  batch = traceloom_marker_new("event/batch", "", 0, 0);
  epoch = traceloom_marker_new("event/epoch", NULL, 0, TRACELOOM_LONG_RUNNING);
  counter = traceloom_counter_new("memory", "mem", keys, 2, 0);
  traceloom_end(batch, traceloom_begin(batch)); /* nothing is open yet */
  session = traceloom_open(&options);
  CHECK(session != NULL);
  CHECK(traceloom_open(&options) == NULL);
  traceloom_set_thread_name("main \"loop\"");
  traceloom_start(epoch);
  for (; at.batch < 5;) {
    traceloom_span span;
    CHECK(traceloom_batch_begin(session, &at) == 0);
    span = traceloom_begin(batch);
    traceloom_count(counter, values, 2);
    traceloom_instant(batch);
    traceloom_end(batch, span);
    if (at.batch == 4) traceloom_finish(epoch);
    ++at.batch;
    CHECK(traceloom_batch_end(session, &at) == 0);
  }
  traceloom_finish(epoch); /* once too often */
  CHECK(traceloom_current_action(session) == TRACELOOM_ACTIVE);
  CHECK(traceloom_flush(session) == 0);
  CHECK(traceloom_wait_saved(session, 60000) == 1);
  status.size = sizeof status;
  CHECK(traceloom_get_status(session, &status) == 0);
  CHECK(status.events == 17);
  CHECK(status.dropped == 0 && status.lost == 0 && status.misuses == 1);
  CHECK(batches_met == 33);
  CHECK(traceloom_close(session) == 0);
  traceloom_end(batch, traceloom_begin(batch));
  traceloom_end(NULL, traceloom_begin(NULL));
  CHECK(traceloom_close(NULL) == 0);
  return 0;
}
