// These tests check the parts of the interface for C besides sessions and markers: handlers, the
// host, memory.
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Lines = std::vector<std::string>;

Lines& lines(void* arg) {
  return *static_cast<Lines*>(arg);
}

template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream text;
  ((text << parts << ' '), ...);
  std::string line = text.str();
  line.pop_back();
  return line;
}

// Returns a handler that notes one line a call, without what differs from run to run.
traceloom_handler handler_to(Lines& told) {
  traceloom_handler to = TRACELOOM_HANDLER_INIT;
  to.arg = &told;
  to.begin_cycle = [](void* arg, const traceloom_cycle_info* cycle) {
    lines(arg).push_back(joined("begin", cycle->rank, cycle->number, cycle->path));
    return 0;
  };
  to.duration = [](void* arg, const traceloom_duration_event* event) {
    lines(arg).push_back(joined("duration", event->name, event->categories, event->thread_name,
                                event->part, event->epoch, event->batch,
                                event->tid == gettid() ? "writer" : "recorder"));
    return event->begin_ns > 0 && event->duration_ns >= 0 && event->label > 0 ? 0 : 1;
  };
  to.instant = [](void* arg, const traceloom_instant_event* event) {
    lines(arg).push_back(joined("instant", event->name, event->epoch, event->batch));
    return event->at_ns > 0 ? 0 : 1;
  };
  to.counter = [](void* arg, const traceloom_counter_event* event) {
    std::string line = joined("counter", event->name);
    for (std::size_t i = 0; i < event->count; ++i)
      line += joined("", event->keys[i], event->values[i]);
    lines(arg).push_back(line);
    return 0;
  };
  to.metadata = [](void* arg, const traceloom_metadata_event* event) {
    if (std::string(event->name) == "global_rank")
      lines(arg).push_back(joined("metadata", event->name, event->args_json));
    return 0;
  };
  to.external_trace = [](void* arg, const char* path) {
    lines(arg).push_back(joined("external", path));
    return 0;
  };
  to.end_cycle = [](void* arg, const traceloom_cycle_info* cycle) {
    lines(arg).push_back(joined("end", cycle->rank, cycle->number, cycle->path));
    return 0;
  };
  return to;
}

traceloom_status status_of(const traceloom_session* session) {
  traceloom_status status = TRACELOOM_STATUS_INIT;
  status.size = sizeof status;
  CHECK(traceloom_get_status(session, &status) == 0);
  return status;
}

}  // namespace

TEST_CASE("c_api: a handler gets what the files get, and may be all there is") {
  const TemporaryFolder folder;
  const std::string path = folder.path("none");
  Lines told;
  const traceloom_handler handler = handler_to(told);
  const traceloom_handler idle = TRACELOOM_HANDLER_INIT;
  const traceloom_handler* const handlers[] = {&idle, &handler};
  traceloom_position start = TRACELOOM_POSITION_INIT;
  start.epoch = 2;
  start.batch = 7;
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.rank = 3;
  options.handlers = handlers;
  options.handler_count = 2;
  options.write_json = 0;
  options.clock = TRACELOOM_CLOCK_MONOTONIC;
  options.start = &start;
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  const char* const keys[] = {"used", "free"};
  const double values[] = {1.5, 2};
  traceloom_marker* const step = traceloom_marker_new("step", "a,b", 0, 0);
  traceloom_marker* const epoch =
      traceloom_marker_new("epoch", "", 0, TRACELOOM_LONG_RUNNING | TRACELOOM_INSTANT_ON_FINISH);
  traceloom_start(epoch);
  traceloom_end(step, traceloom_begin(step));
  traceloom_count(traceloom_counter_new("memory", "", keys, 2, 0), values, 2);
  traceloom_finish(epoch);
  CHECK(traceloom_flush(session) == 0);
  CHECK(traceloom_record_chrome_json_trace_file(session, "torch.json") == 0);
  const traceloom_status status = status_of(session);
  CHECK(status.events == 5);
  CHECK(std::string(status.clock) == "monotonic");
  CHECK(std::string(status.last_error).empty());
  CHECK(traceloom_close(session) == 0);
  CHECK(told == Lines{"begin 3 0 ", "metadata global_rank {\"value\":3}",
                      "duration epoch  Training Loop 1 2 7 recorder",
                      "duration step a,b Training Loop 0 2 7 recorder",
                      "counter memory used 1.5 free 2",
                      "duration epoch  Training Loop 2 2 7 recorder", "instant epoch 2 7",
                      "external torch.json", "end 3 0 "});
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("c_api: a handler that fails gets no more of the cycle, and the file all of it") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  Lines told;
  traceloom_handler handler = handler_to(told);
  handler.metadata = nullptr;
  handler.instant = [](void*, const traceloom_instant_event*) { return 5; };
  const traceloom_handler* const handlers[] = {&handler};
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.handlers = handlers;
  options.handler_count = 1;
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  traceloom_marker* const step = traceloom_marker_new("step", "", 0, 0);
  traceloom_instant(step);
  traceloom_end(step, traceloom_begin(step));
  CHECK(traceloom_flush(session) == 0);
  CHECK(std::string(status_of(session).last_error) ==
        "handlers[0]: instant() returned 5; the handler gets no more of this cycle");
  CHECK(traceloom_close(session) == 0);
  CHECK(told == Lines{"begin 0 0 " + folder.path("ep0-ba0-rank0.unfinished.json")});
  const Events events = Events::of_file(folder.path("ep0-ba0-rank0.json"));
  CHECK(events.count("step", "i") == 1);
  CHECK(events.count("step", "X") == 1);
}

TEST_CASE("c_api: handlers that are none are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.handler_count = 1;
  CHECK(traceloom_open(&options) == nullptr);
  CHECK(std::string(traceloom_last_error()) ==
        "traceloom_options: 1 handlers, but no pointer to them");
  const traceloom_handler without_size{};
  for (const traceloom_handler* const handler :
       std::initializer_list<const traceloom_handler*>{&without_size, nullptr}) {
    options.handlers = &handler;
    CHECK(traceloom_open(&options) == nullptr);
    CHECK(std::string(traceloom_last_error()).starts_with("traceloom_"));
  }
}

TEST_CASE("c_api: options of a program that was compiled before there were handlers") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.size = offsetof(traceloom_options, handlers);
  // The bytes after its struct may be anything.
  options.handler_count = std::numeric_limits<std::size_t>::max();
  options.write_json = 0;
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  traceloom_status status{};
  status.size = offsetof(traceloom_status, clock);
  status.clock[0] = '?';
  CHECK(traceloom_get_status(session, &status) == 0);
  CHECK(status.clock[0] == '?');
  CHECK(traceloom_close(session) == 0);
  CHECK(files_in(path) == Lines{"ep0-ba0-rank0.json"});
}

TEST_CASE("c_api: an error is cut where there is no room, between characters") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  std::string name = "missing-";
  while (name.size() < 700) name += "\u00e4";
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  for (const std::string& shifted : {name, "x" + name}) {
    traceloom_record_chrome_json_trace_file(session, shifted.c_str());
    CHECK(traceloom_flush(session) == 0);
    const std::string told = status_of(session).last_error;
    CHECK(told.size() >= 510);
    CHECK(shifted.starts_with(told));
    CHECK(told.ends_with("\u00e4"));
  }
  CHECK(traceloom_close(session) == 0);
}

TEST_CASE("c_api: the host is sampled while it is told to") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  traceloom_host_options host_options = TRACELOOM_HOST_OPTIONS_INIT;
  host_options.interval_ns = 3'600'000'000'000;
  host_options.network = host_options.disk = host_options.cpu = 0;
  traceloom_host* host = traceloom_host_start(&host_options);
  REQUIRE(host != nullptr);
  CHECK(traceloom_host_missing(host, 0) == nullptr);
  CHECK(traceloom_host_stop(host) == 0);
  CHECK(traceloom_close(session) == 0);
  const Events events = Events::of_file(folder.path("ep0-ba0-rank0.json"));
  CHECK(events.count("memory/virtual", "C") >= 1);  // its first sample may be its last
  CHECK(events.count("memory/rss", "C") >= 1);
  CHECK(events.count("cpu", "C") == 0);

  host_options.interval_ns = 999'999;
  CHECK(traceloom_host_start(&host_options) == nullptr);
  CHECK(std::string(traceloom_last_error()) ==
        "the host cannot be sampled every 999999 ns; 1 ms is the least");
  host_options.size = 0;
  CHECK(traceloom_host_start(&host_options) == nullptr);
  CHECK(std::string(traceloom_last_error()).starts_with("traceloom_host_options.size is 0: "));
  CHECK(traceloom_host_stop(nullptr) == 0);
  CHECK(traceloom_host_missing(nullptr, 0) == nullptr);
}

TEST_CASE("c_api: of a node's processes the first samples the machine") {
  traceloom_options place = TRACELOOM_OPTIONS_INIT;
  for (const int local_rank : {1, 0}) {
    place.local_rank = local_rank;
    traceloom_host_options share = TRACELOOM_HOST_OPTIONS_INIT;
    share.process = 0;
    CHECK(traceloom_host_share(&share, &place) == 0);
    const int machine = local_rank == 0 ? 1 : 0;
    CHECK(share.cpu == machine);
    CHECK(share.memory == machine);
    CHECK(share.disk == machine);
    CHECK(share.network == machine);
    CHECK(share.process == 1);
  }
  place.size = 0;
  traceloom_host_options share = TRACELOOM_HOST_OPTIONS_INIT;
  CHECK(traceloom_host_share(&share, &place) == -1);
}

TEST_CASE("c_api: memory scopes have a file, counters, and a word for the program") {
  const TemporaryFolder folder;
  const std::string traces = folder.path("traces");
  const std::string stats = folder.path("rank_2_memory_stats.yaml");
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = traces.c_str();
  traceloom_session* session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  Lines told;
  traceloom_memory_options memory_options = TRACELOOM_MEMORY_OPTIONS_INIT;
  memory_options.path = stats.c_str();
  memory_options.rank = 2;
  memory_options.max_iterations = 2;
  memory_options.counters = 1;
  memory_options.on_snapshot = [](void* arg, const traceloom_memory_snapshot* snapshot) {
    REQUIRE(snapshot->counter_count == 1);
    lines(arg).push_back(
        joined(snapshot->key, snapshot->counters[0], snapshot->counter_bytes[0],
               snapshot->rss > 0 && snapshot->vms > 0 && snapshot->time_ns > 0 ? "known" : "0"));
  };
  memory_options.on_snapshot_arg = &told;
  traceloom_memory* memory = traceloom_memory_open(&memory_options);
  REQUIRE(memory != nullptr);
  CHECK(traceloom_memory_add_bytes(memory, "npp", 100) == 0);
  for (int i = 0; i < 3; ++i) {  // the first and the third are left out
    traceloom_memory_scope* scope = traceloom_memory_begin(memory, "step");
    REQUIRE(scope != nullptr);
    CHECK(traceloom_memory_add_bytes(memory, "npp", -30) == 0);
    CHECK(traceloom_memory_end(scope) == 0);
  }
  CHECK(traceloom_memory_flush(memory) == 0);
  CHECK(told == Lines{"2.step.2.start npp 70 known", "2.step.2.end npp 40 known"});
  const std::string text = read_file(stats);
  CHECK(text.starts_with("2.step.2.start:\n  time_ns: "));
  CHECK(text.find("\n2.step.2.end:\n") != std::string::npos);
  CHECK(text.ends_with("\n  npp_diff: -30\n"));

  traceloom_memory_growth growth{};
  CHECK(traceloom_memory_get_growth(memory, "step", &growth) == -1);  // without a size
  growth = TRACELOOM_MEMORY_GROWTH_INIT;
  CHECK(traceloom_memory_get_growth(memory, "step", &growth) == 0);
  CHECK(growth.iterations == 1);
  CHECK(growth.rss_sum == growth.rss_last);
  CHECK(traceloom_memory_get_growth(memory, "none", &growth) == 0);
  CHECK(growth.iterations == 0);
  CHECK(growth.size == sizeof growth);
  CHECK(traceloom_memory_close(memory) == 0);
  CHECK(traceloom_close(session) == 0);
  const Events events = Events::of_file(folder.path("traces/ep0-ba0-rank0.json"));
  CHECK(events.count("memory/rss", "C") == 2);
  CHECK(events.of("memory/bytes/npp", "C").with("\"args\":{\"bytes\":40}").size() == 1);

  CHECK(traceloom_memory_open(&memory_options) == nullptr);
  CHECK(std::string(traceloom_last_error()) ==
        stats + ": exists already: choose another name, or allow to overwrite");
  memory_options.overwrite = 1;
  CHECK(traceloom_memory_close(traceloom_memory_open(&memory_options)) == 0);
  CHECK(read_file(stats).empty());
}

TEST_CASE("c_api: a scope may outlive the memory it belongs to, and handles may be NULL") {
  traceloom_memory_options options = TRACELOOM_MEMORY_OPTIONS_INIT;
  options.warmup_iterations = 0;
  int told = 0;
  options.on_snapshot = [](void* arg, const traceloom_memory_snapshot*) {
    ++*static_cast<int*>(arg);
  };
  options.on_snapshot_arg = &told;
  traceloom_memory* memory = traceloom_memory_open(&options);
  traceloom_memory_scope* scope = traceloom_memory_begin(memory, nullptr);
  CHECK(traceloom_memory_close(memory) == 0);
  CHECK(traceloom_memory_end(scope) == 0);
  CHECK(told == 2);
  CHECK(traceloom_memory_begin(nullptr, "a") == nullptr);
  CHECK(traceloom_memory_end(nullptr) == 0);
  CHECK(traceloom_memory_add_bytes(nullptr, "a", 1) == 0);
  CHECK(traceloom_memory_flush(nullptr) == 0);
  CHECK(traceloom_memory_close(nullptr) == 0);
}

TEST_CASE("c_api: memory that could not be written is an error of its flush and its close") {
  CHECK(run_child([] {
          const TemporaryFolder folder;
          const std::string path = folder.path("memory.yaml");
          traceloom_memory_options options = TRACELOOM_MEMORY_OPTIONS_INIT;
          options.path = path.c_str();
          options.warmup_iterations = 0;
          traceloom_memory* memory = traceloom_memory_open(&options);
          const rlimit nothing{0, RLIM_INFINITY};
          std::signal(SIGXFSZ, SIG_IGN);
          setrlimit(RLIMIT_FSIZE, &nothing);
          traceloom_memory_end(traceloom_memory_begin(memory, "step"));
          const std::string wanted = path + ": File too large";
          if (traceloom_memory_flush(memory) != -1 || traceloom_last_error() != wanted) _exit(1);
          if (traceloom_memory_close(memory) != -1 || traceloom_last_error() != wanted) _exit(2);
          _exit(0);
        }) == 0);
}
