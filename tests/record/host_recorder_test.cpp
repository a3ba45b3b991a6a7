#include "record/host_recorder.h"

#include "record/memory_scope.h"
#include "record/scratch.h"
#include "record/trace_handler.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>

using namespace traceloom::record;

namespace {

// Collects names such as "memory/rss rss_mb" of all counters that come by.
struct CounterNames : TraceHandler {
  void counter(const CounterEvent& event) override {
    for (std::size_t i = 0; i < event.count; ++i)
      names.insert(std::string(event.name) + " " + event.keys[i]);
    threads.insert(event.thread_name);
    ++count;
  }
  std::set<std::string> names;
  std::set<std::string> threads;
  int count = 0;
};

Options options_with(const std::shared_ptr<CounterNames>& names) {
  Options options;
  options.write_json = false;
  options.handlers.push_back(names);
  return options;
}

}  // namespace

TEST_CASE("host_recorder: what is sampled is in the trace, on a thread of its own") {
  const Scratch scratch;
  const auto names = std::make_shared<CounterNames>();
  Options options = options_with(names);
  options.folder = scratch / "traces";
  Session session(options);
  {
    HostOptions host = host_options_for(options);
    host.interval_ns = 3'600'000'000'000;
    const HostRecorder recorder(host);
  }
  session.close();
  CHECK(names->names.count("memory/virtual used_gb") == 1);
  CHECK(names->names.count("memory/virtual available_gb") == 1);
  CHECK(names->names.count("memory/rss rss_mb") == 1);
  CHECK(names->threads == std::set<std::string>{"host-sampler"});
}

TEST_CASE("host_recorder: memory scopes are counters, too") {
  const Scratch scratch;
  const auto names = std::make_shared<CounterNames>();
  Options options = options_with(names);
  options.folder = scratch / "traces";
  Session session(options);
  MemoryStats stats({.warmup_iterations = 0, .counters = true});
  stats.add_bytes("npp", 4096);
  { const MemoryScope scope(stats, "training_step"); }
  session.close();
  CHECK(names->names ==
        std::set<std::string>{"memory/bytes/npp bytes", "memory/rss rss_mb", "memory/vms vms_mb"});
  CHECK(names->count == 6);
}
