// MemoryScope: measures what a part of the program does to the memory of its process.
//
//   MemoryStats stats({.path = "rank_0_memory_stats.yaml", .rank = 0});
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

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace traceloom::record {

class ProcFile;  // proc.h

struct MemorySnapshot {
  std::string key;  // "0.training_step.2.start"
  std::int64_t time_ns = 0;
  std::int64_t rss = 0;
  std::int64_t vms = 0;
  // The program's own counters by name: the sum of what has been added to each so far.
  std::vector<std::pair<std::string, std::int64_t>> bytes;
};

struct MemoryStatsOptions {
  std::string path = {};  // "": no file
  bool overwrite = false;
  std::int64_t rank = 0;
  // Each scope records the iterations after the first `warmup_iterations`, up to number
  // `max_iterations` (counted from 1). The first iteration allocates what later ones use again.
  // MemProfiler records one.
  std::int64_t warmup_iterations = 1;
  std::optional<std::int64_t> max_iterations = std::nullopt;
  // Called with each snapshot, by the thread of the scope.
  std::function<void(const MemorySnapshot&)> on_snapshot = {};
};

// The memory that a scope added to the process, over its recorded iterations.
struct MemoryGrowth {
  std::string scope;
  std::int64_t iterations = 0;
  std::int64_t rss_sum = 0;
  std::int64_t rss_min = 0;
  std::int64_t rss_max = 0;
  std::int64_t rss_last = 0;
};

// Thread-safe. Scopes may nest, also within themselves, and be open in several threads at once; the
// memory is that of the whole process.
class MemoryStats {
 public:
  // Throws Error if the file cannot be created, or exists and must not be overwritten.
  explicit MemoryStats(MemoryStatsOptions options);
  ~MemoryStats();
  MemoryStats(const MemoryStats&) = delete;
  MemoryStats& operator=(const MemoryStats&) = delete;

  // Changes a counter of the program's own by so many bytes; negative ones are given back. Throws
  // std::invalid_argument for a name that would give an entry a key twice: "rss", or "x_diff" next
  // to "x".
  void add_bytes(std::string_view counter, std::int64_t bytes);

  std::vector<MemoryGrowth> growth() const;  // sorted by name of the scope
  // Waits until the disk has what was written. Throws std::runtime_error if it cannot, and also if
  // error() has a text.
  void flush() const;
  // Returns why no more is written, such as "stats.yaml: No space left on device", or "" while all
  // is well. What was written stays whole.
  std::string error() const;

 private:
  friend class MemoryScope;
  struct Scope {
    std::int64_t iterations = 0;
    MemoryGrowth growth;
  };

  // Returns nullopt if this iteration is not recorded.
  std::optional<MemorySnapshot> start(const std::string& scope);
  void finish(const std::string& scope, const MemorySnapshot& at_start);
  MemorySnapshot take(const std::string& key);
  void write(const MemorySnapshot& snapshot, const MemorySnapshot* at_start);
  void append(const std::string& text);

  MemoryStatsOptions options_;
  bool is_json_ = false;
  mutable std::mutex mutex_;
  std::unique_ptr<ProcFile> statm_;
  pid_t statm_of_ = 0;  // the process that opened it: a child has a memory of its own
  std::int64_t page_bytes_;
  std::map<std::string, Scope> scopes_;
  std::map<std::string, std::int64_t, std::less<>> bytes_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;  // does not count the end of a JSON object
  std::string error_;
};

// Measures from here to the end of the block.
class MemoryScope {
 public:
  MemoryScope(MemoryStats& stats, std::string scope)
      : stats_(stats), scope_(std::move(scope)), at_start_(stats.start(scope_)) {}
  ~MemoryScope() {
    if (at_start_) stats_.finish(scope_, *at_start_);
  }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  MemoryStats& stats_;
  std::string scope_;
  std::optional<MemorySnapshot> at_start_;
};

}  // namespace traceloom::record

#pragma GCC visibility pop
