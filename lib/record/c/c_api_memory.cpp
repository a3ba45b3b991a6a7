// Memory scopes of traceloom.h.
#include "base/error.h"
#include "record/c/c_api_support.h"
#include "record/c/traceloom.h"
#include "record/host/host_recorder.h"
#include "record/host/memory_scope.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom::record;

// It is shared with its scopes, which may end after the close.
struct traceloom_memory {
  explicit traceloom_memory(MemoryStatsOptions options)
      : stats(std::make_shared<MemoryStats>(std::move(options))) {}
  const std::shared_ptr<MemoryStats> stats;
};

struct traceloom_memory_scope {
  traceloom_memory_scope(std::shared_ptr<MemoryStats> of, const char* name)
      : stats(std::move(of)), scope(*stats, text_or_empty(name)) {}
  const std::shared_ptr<MemoryStats> stats;
  const MemoryScope scope;
};

namespace {

using SnapshotSink = std::function<void(const MemorySnapshot&)>;

SnapshotSink snapshot_sink(const traceloom_memory_options& from) {
  return [tell = from.on_snapshot, arg = from.on_snapshot_arg,
          count = from.counters != 0 ? memory_counters()
                                     : SnapshotSink()](const MemorySnapshot& snapshot) {
    if (count) count(snapshot);
    if (tell == nullptr) return;
    std::vector<const char*> names;
    std::vector<std::int64_t> bytes;
    names.reserve(snapshot.bytes.size());
    bytes.reserve(snapshot.bytes.size());
    for (const auto& [name, value] : snapshot.bytes) {
      names.push_back(name.c_str());
      bytes.push_back(value);
    }
    const traceloom_memory_snapshot all{sizeof all,   snapshot.key.c_str(), snapshot.time_ns,
                                        snapshot.rss, snapshot.vms,         names.size(),
                                        names.data(), bytes.data()};
    tell(arg, &all);
  };
}

MemoryStatsOptions memory_options_of(const traceloom_memory_options* given) {
  const traceloom_memory_options from = complete(
      given, traceloom_memory_options TRACELOOM_MEMORY_OPTIONS_INIT, "traceloom_memory_options");
  MemoryStatsOptions to;
  to.path = text_or_empty(from.path);
  to.overwrite = from.overwrite != 0;
  to.rank = from.rank;
  to.warmup_iterations = from.warmup_iterations;
  if (from.max_iterations >= 0) to.max_iterations = from.max_iterations;
  if (from.counters != 0 || from.on_snapshot != nullptr) to.on_snapshot = snapshot_sink(from);
  return to;
}

}  // namespace

extern "C" {

traceloom_memory* traceloom_memory_open(const traceloom_memory_options* options) {
  traceloom_memory* memory = nullptr;
  guarded([&] { memory = new traceloom_memory(memory_options_of(options)); });
  return memory;
}

traceloom_memory_scope* traceloom_memory_begin(traceloom_memory* memory, const char* scope) {
  traceloom_memory_scope* open = nullptr;
  guarded([&] {
    if (memory != nullptr) open = new traceloom_memory_scope(memory->stats, scope);
  });
  return open;
}

int traceloom_memory_end(traceloom_memory_scope* scope) {
  return guarded([&] { const std::unique_ptr<traceloom_memory_scope> owned(scope); });
}

int traceloom_memory_add_bytes(traceloom_memory* memory, const char* counter, int64_t bytes) {
  return guarded([&] {
    if (memory != nullptr) memory->stats->add_bytes(text_or_empty(counter), bytes);
  });
}

int traceloom_memory_get_growth(const traceloom_memory* memory, const char* scope,
                                traceloom_memory_growth* growth) {
  if (memory == nullptr || growth == nullptr) return 0;
  return guarded([&] {
    check_size(growth->size, "traceloom_memory_growth");
    traceloom_memory_growth all{};
    for (const MemoryGrowth& from : memory->stats->growth())
      if (from.scope == text_or_empty(scope))
        all = {0, from.iterations, from.rss_sum, from.rss_min, from.rss_max, from.rss_last};
    all.size = growth->size;
    give_back(all, *growth);
  });
}

int traceloom_memory_flush(traceloom_memory* memory) {
  return guarded([&] {
    if (memory != nullptr) memory->stats->flush();
  });
}

int traceloom_memory_close(traceloom_memory* memory) {
  return guarded([&] {
    const std::unique_ptr<traceloom_memory> owned(memory);
    if (owned == nullptr) return;
    if (const std::string problem = owned->stats->error(); !problem.empty())
      throw std::runtime_error(problem);
  });
}

}  // extern "C"
