// MemoryScope: measures what a part of the program does to the memory of its process.
//
//   MemoryStatsOptions options;
//   options.path = "rank_0_memory_stats.yaml";
//   MemoryStats stats(options);
//   for (batch : loader) {
//     MemoryScope scope(stats, "training_step");
//     ...
//     stats.add_bytes("npp", saved_for_backward);   // bytes that the program counts itself
//   }
//
// Each scope writes, and flushes,
//
//   0.training_step.2.start:
//     time_ns: 1795202033316240000
//     rss: 269221888
//     vms: 1325400064
//     npp: 0
//   0.training_step.2.end:
//     ... the same, and how much more than at its start: rss_diff, vms_diff, npp_diff
//
// The keys are those of finetuning-scheduler's MemProfiler: rank, scope, iteration of the scope.
// Sizes are bytes, times ns since 1970. The file is complete after every entry, as a plain mapping
// of YAML or, if its name ends in .json, as an object of JSON; a killed run leaves what it wrote.
#pragma once

#include "record/failure.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace traceloom::record {

using MemorySnapshot = traceloom_memory_snapshot;  // one end of a scope
using MemoryGrowth = traceloom_memory_growth;

struct MemoryStatsOptions {
  std::string path = {};  // "": no file
  bool overwrite = false;
  std::int64_t rank = 0;
  // A scope records its iterations after the first `warmup_iterations`, up to number
  // `max_iterations` (counted from 1; -1: all). The first iteration allocates what later ones use
  // again. MemProfiler records one.
  std::int64_t warmup_iterations = 1;
  std::int64_t max_iterations = -1;
  // Also records memory/rss and memory/vms in MB, and memory/bytes/NAME for each of the program's
  // own counters, in the trace.
  bool counters = false;
  // Called with each snapshot, by the thread of the scope.
  std::function<void(const MemorySnapshot&)> on_snapshot = {};
};

// Thread-safe. Scopes may nest, also within themselves, and be open in several threads at once; the
// memory is that of the whole process.
class MemoryStats {
 public:
  // Throws std::runtime_error if the file cannot be created, or exists and must not be overwritten.
  explicit MemoryStats(const MemoryStatsOptions& options)
      : tell_(std::make_unique<Tell>(options.on_snapshot)) {
    traceloom_memory_options all = TRACELOOM_MEMORY_OPTIONS_INIT;
    all.path = options.path.c_str();
    all.overwrite = options.overwrite;
    all.rank = options.rank;
    all.warmup_iterations = options.warmup_iterations;
    all.max_iterations = options.max_iterations;
    all.counters = options.counters;
    if (*tell_)
      all.on_snapshot = [](void* tell, const MemorySnapshot* snapshot) {
        (*static_cast<const Tell*>(tell))(*snapshot);
      };
    all.on_snapshot_arg = tell_.get();
    memory_ = traceloom_memory_open(&all);
    check(memory_ == nullptr);
  }
  ~MemoryStats() { traceloom_memory_close(memory_); }
  MemoryStats(const MemoryStats&) = delete;
  MemoryStats& operator=(const MemoryStats&) = delete;

  // Changes a counter of the program's own by so many bytes; negative ones are given back. Throws
  // std::invalid_argument for a name that would give an entry a key twice: "rss", or "x_diff" next
  // to "x".
  void add_bytes(const std::string& counter, std::int64_t bytes) {
    if (traceloom_memory_add_bytes(memory_, counter.c_str(), bytes) != 0)
      detail::fail<std::invalid_argument>();
  }

  // Returns the memory that a scope added to the process, over its recorded iterations.
  MemoryGrowth growth(const std::string& scope) const {
    MemoryGrowth growth = TRACELOOM_MEMORY_GROWTH_INIT;
    traceloom_memory_get_growth(memory_, scope.c_str(), &growth);
    return growth;
  }
  // Waits until the disk has what was written. Throws std::runtime_error if it cannot, and also if
  // no more is written since an error, such as "stats.yaml: No space left on device". What was
  // written before stays whole.
  void flush() const { check(traceloom_memory_flush(memory_) != 0); }

 private:
  friend class MemoryScope;
  using Tell = std::function<void(const MemorySnapshot&)>;

  static void check(bool has_failed) {
    if (has_failed) detail::fail();
  }

  std::unique_ptr<Tell> tell_;
  traceloom_memory* memory_ = nullptr;
};

// Measures from here to the end of the block.
class MemoryScope {
 public:
  MemoryScope(const MemoryStats& stats, const std::string& scope)
      : scope_(traceloom_memory_begin(stats.memory_, scope.c_str())) {
    MemoryStats::check(scope_ == nullptr);
  }
  ~MemoryScope() { traceloom_memory_end(scope_); }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  traceloom_memory_scope* scope_;
};

}  // namespace traceloom::record
