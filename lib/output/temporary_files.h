// TemporaryFileEntry: registers a temporary file, so that a signal handler can remove it.
//
//   TemporaryFileEntry entry(".merged.json.traceloom-4711.tmp");   // registered as long as it
//   lives
#pragma once

#include <string>

namespace traceloom {

// From construction to destruction, remove_temporary_files() unlinks `path`, or removes the folder
// of that name once its files are unlinked. There is room for 64 files at a time; a signal leaves
// further ones behind. Thread-safe.
class TemporaryFileEntry {
 public:
  explicit TemporaryFileEntry(const std::string& path) noexcept;
  ~TemporaryFileEntry();
  TemporaryFileEntry(const TemporaryFileEntry&) = delete;
  TemporaryFileEntry& operator=(const TemporaryFileEntry&) = delete;

 private:
  int slot_;
};

// Unlinks the temporary files of all open FileSinks. It is async-signal-safe, for a handler of
// SIGINT and SIGTERM after which the process ends.
void remove_temporary_files() noexcept;

}  // namespace traceloom
