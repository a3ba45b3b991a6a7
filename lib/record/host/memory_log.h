// MemoryLog: the file of memory scopes, which memory_scope.h describes.
//
//   MemoryLog log(options);
//   const std::optional<MemoryReading> at_start = log.start("training_step");
//   if (at_start) log.finish("training_step", *at_start);
#pragma once

#include "record/traceloom.h"

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

namespace traceloom::record {

class ProcFile;  // proc.h

// One end of a scope.
struct MemoryReading {
  std::string key;  // "0.training_step.2.start"
  std::int64_t time_ns = 0;
  std::int64_t rss = 0;
  std::int64_t vms = 0;
  // The program's own counters by name: the sum of what has been added to each so far.
  std::vector<std::pair<std::string, std::int64_t>> bytes;
};

// Thread-safe. Scopes may nest, also within themselves, and be open in several threads at once; the
// memory is that of the whole process.
class MemoryLog {
 public:
  // Throws Error if the file cannot be created, or exists and must not be overwritten.
  explicit MemoryLog(const traceloom_memory_options& options);
  ~MemoryLog();
  MemoryLog(const MemoryLog&) = delete;
  MemoryLog& operator=(const MemoryLog&) = delete;

  // Changes a counter of the program's own by so many bytes; negative ones are given back. Throws
  // std::invalid_argument for a name that would give an entry a key twice: "rss", or "x_diff" next
  // to "x".
  void add_bytes(std::string_view counter, std::int64_t bytes);

  // Returns all 0 for a scope that has not been recorded.
  traceloom_memory_growth growth(const std::string& scope) const;
  // Waits until the disk has what was written. Throws std::runtime_error if it cannot, and also if
  // error() has a text.
  void flush() const;
  // Returns why no more is written, such as "stats.yaml: No space left on device", or "" while all
  // is well. What was written stays whole.
  std::string error() const;
  // Notes the first problem that nobody has been told of.
  void set_error(const std::string& text);

  // Begins and ends a scope. Returns nullopt if this iteration is not recorded.
  std::optional<MemoryReading> start(const std::string& scope);
  void finish(const std::string& scope, const MemoryReading& at_start);

 private:
  struct Scope {
    std::int64_t iterations = 0;
    traceloom_memory_growth growth = TRACELOOM_MEMORY_GROWTH_INIT;
  };

  void tell(const MemoryReading& reading) const;
  MemoryReading take(const std::string& key);
  void write(const MemoryReading& snapshot, const MemoryReading* at_start);
  void append(const std::string& text);

  traceloom_memory_options options_;
  std::string path_;
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

}  // namespace traceloom::record
