// Which temporary files exist at this moment, for a signal handler that has to remove them.
//
//   TemporaryFileEntry entry(".merged.json.traceloom-4711.tmp");   // forgotten again when `entry`
//   goes
#pragma once

#include <string>

namespace traceloom {

// From now until its destruction, remove_temporary_files() unlinks `path`. There is room for 64 at
// a time; more are simply not remembered, and a signal leaves them behind. Thread-safe.
class TemporaryFileEntry {
 public:
  explicit TemporaryFileEntry(const std::string& path) noexcept;
  ~TemporaryFileEntry();
  TemporaryFileEntry(const TemporaryFileEntry&) = delete;
  TemporaryFileEntry& operator=(const TemporaryFileEntry&) = delete;

 private:
  int slot_;
};

// Unlinks the temporary files of all FileSinks that are open. Async-signal-safe: for a handler of
// SIGINT and SIGTERM, after which the process ends.
void remove_temporary_files() noexcept;

}  // namespace traceloom
