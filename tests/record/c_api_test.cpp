// These tests check what only the interface for C does; tests/package/train.c is a program in C.
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

TEST_CASE("c_api: the place in the run comes from the launcher, names from their templates") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          setenv("RANK", "3", 1);
          setenv("WORLD_SIZE", "4", 1);
          setenv("LOCAL_RANK", "1", 1);
          setenv("LOCAL_WORLD_SIZE", "2", 1);
          setenv("GROUP_RANK", "1", 1);
          setenv("TRACELOOM_RUN_NAME", "run7", 1);
          traceloom_options options = TRACELOOM_OPTIONS_INIT;
          if (traceloom_place_from_environment(&options) != 0) _exit(1);
          if (options.rank != 3 || options.world_size != 4 || options.local_rank != 1) _exit(2);
          if (options.local_world_size != 2 || options.node_rank != 1) _exit(3);
          const std::string names = folder.path("{run_name}/node{node_rank}");
          options.folder = names.c_str();
          options.file_name = "{run_name}-ba{batch:03}-rank{rank}.json";
          traceloom_session* session = traceloom_open(&options);
          if (session == nullptr || traceloom_close(session) != 0) _exit(4);
          _exit(files_in(folder.path("run7/node1")) ==
                        std::vector<std::string>{"run7-ba000-rank3.json"}
                    ? 0
                    : 5);
        }) == 0);
  CHECK(run_child([] {
          setenv("RANK", "three", 1);
          traceloom_options options = TRACELOOM_OPTIONS_INIT;
          if (traceloom_place_from_environment(&options) != -1) _exit(1);
          _exit(std::string(traceloom_last_error()).find("RANK") != std::string::npos ? 0 : 2);
        }) == 0);
  CHECK(traceloom_place_from_environment(nullptr) == 0);
}

TEST_CASE("c_api: a cyclic schedule, and what it saves is told") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_cycle cycle = TRACELOOM_CYCLE_INIT;
  cycle.wait = 1;
  cycle.active = 2;
  cycle.repeat = 0;
  std::vector<std::string> told;
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.schedule = traceloom_cyclic_schedule;
  options.schedule_arg = &cycle;
  options.on_saved = [](void* arg, const char* saved, std::uint64_t events, std::uint64_t dropped) {
    static_cast<std::vector<std::string>*>(arg)->push_back(
        std::string(saved) + " " + std::to_string(events) + " " + std::to_string(dropped));
  };
  options.on_saved_arg = &told;
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  traceloom_marker* batch = traceloom_marker_new("event/batch", "", 0, 0);
  traceloom_position at = TRACELOOM_POSITION_INIT;
  std::vector<int> actions;
  for (; at.batch < 8; ++at.batch, ++at.batch_in_epoch) {
    CHECK(traceloom_batch_begin(session, &at) == 0);
    actions.push_back(traceloom_current_action(session));
    traceloom_end(batch, traceloom_begin(batch));
    traceloom_position behind = at;
    ++behind.batch;
    ++behind.batch_in_epoch;
    CHECK(traceloom_batch_end(session, &behind) == 0);
  }
  CHECK(traceloom_wait_saved(session, 60'000) == 1);
  std::vector<std::string> saved;
  const auto add = [](void* arg, const traceloom_saved_trace* trace) {
    static_cast<std::vector<std::string>*>(arg)->push_back(std::string(trace->path) + " " +
                                                           std::to_string(trace->events) + " " +
                                                           std::to_string(trace->dropped));
    CHECK(trace->at->batch % 4 == 0);
  };
  CHECK(traceloom_saved_traces(session, add, &saved) == 0);
  CHECK(saved == told);
  CHECK(traceloom_saved_traces(session, nullptr, nullptr) == -1);
  CHECK(std::string(traceloom_last_error()) == "no function gets the saved traces");
  CHECK(traceloom_saved_traces(nullptr, add, &saved) == 0);
  CHECK(traceloom_close(session) == 0);
  CHECK(actions == std::vector<int>{TRACELOOM_SKIP, TRACELOOM_WARMUP, TRACELOOM_ACTIVE,
                                    TRACELOOM_ACTIVE_AND_SAVE, TRACELOOM_SKIP, TRACELOOM_WARMUP,
                                    TRACELOOM_ACTIVE, TRACELOOM_ACTIVE_AND_SAVE});
  CHECK(told == std::vector<std::string>{folder.path("ep0-ba4-rank0.json") + " 3 0",
                                         folder.path("ep0-ba8-rank0.json") + " 3 0"});
  cycle.active = -1;
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()).find("active") != std::string::npos);
  CHECK(traceloom_cyclic_schedule(nullptr, &at) == TRACELOOM_SKIP);
}

TEST_CASE("c_api: a struct without a size is refused, and says how to begin one") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_options options{};
  options.folder = path.c_str();
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()) ==
        "traceloom_options.size is 0: set it to sizeof(traceloom_options), or begin with its "
        "..._INIT");
  CHECK(traceloom_place_from_environment(&options) == -1);
  CHECK(files_in(path).empty());

  options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  traceloom_cycle cycle{};
  options.schedule = traceloom_cyclic_schedule;
  options.schedule_arg = &cycle;
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()).starts_with("traceloom_cycle.size is 0: "));

  options.schedule = nullptr;
  options.clock = 7;
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()) == "traceloom_options.clock 7 is not from 0 to 2");
  options.clock = TRACELOOM_CLOCK_AUTOMATIC;
  options.when_full = -1;
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()) == "traceloom_options.when_full -1 is not from 0 to 2");
  options.when_full = TRACELOOM_DROP;
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  const traceloom_position at{};
  CHECK(traceloom_batch_begin(session, &at) == -1);
  CHECK(std::string(traceloom_last_error()).starts_with("traceloom_position.size is 0: "));
  CHECK(traceloom_batch_begin(session, nullptr) == 0);
  CHECK(traceloom_record_chrome_json_trace_file(session, nullptr) == -1);
  CHECK(std::string(traceloom_last_error()) == "the path of the external trace is NULL");
  CHECK(traceloom_record_chrome_json_trace_file(nullptr, nullptr) == 0);
  traceloom_status status{};
  CHECK(traceloom_get_status(session, &status) == -1);
  CHECK(std::string(traceloom_last_error()).starts_with("traceloom_status.size is 0: "));
  CHECK(traceloom_close(session) == 0);
}

TEST_CASE("c_api: an error is known until the thread has ended, and cut between characters") {
  // A key's destructor runs after those of the thread's own objects.
  static std::string before;
  static std::string after;
  pthread_key_t key{};
  REQUIRE(pthread_key_create(&key, [](void*) {
            before = traceloom_last_error();
            const traceloom_options no_size{};
            traceloom_open(&no_size);
            after = traceloom_last_error();
          }) == 0);
  std::string name = "{";
  while (name.size() < 1500) name += "\u00e4";
  std::thread thread([&] {
    pthread_setspecific(key, &key);
    traceloom_options options = TRACELOOM_OPTIONS_INIT;
    options.folder = name.c_str();
    traceloom_open(&options);
  });
  thread.join();
  pthread_key_delete(key);
  CHECK(before.size() >= 1022);
  CHECK(before.size() <= 1023);
  CHECK(before.ends_with("\u00e4"));
  CHECK(after.starts_with("traceloom_options.size is 0: "));
}

TEST_CASE("c_api: nothing is written behind the end of a struct of an older program") {
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.size = offsetof(traceloom_options, world_size);
  options.rank = options.world_size = options.local_world_size = -7;
  CHECK(traceloom_place_from_environment(&options) == 0);
  CHECK(options.rank != -7);
  CHECK(options.world_size == -7);
  CHECK(options.local_world_size == -7);

  traceloom_host_options share = TRACELOOM_HOST_OPTIONS_INIT;
  share.size = offsetof(traceloom_host_options, disk);
  options.local_rank = 0;
  share.cpu = share.disk = share.network = share.process = 77;
  CHECK(traceloom_host_share(&share, &options) == 0);
  CHECK(share.size == offsetof(traceloom_host_options, disk));
  CHECK(share.cpu == 1);
  CHECK(share.disk == 77);
  CHECK(share.network == 77);
  CHECK(share.process == 77);
}
