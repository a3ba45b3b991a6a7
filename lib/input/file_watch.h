// FileWatch: makes sure that all passes over some files read the same bytes.
//
//   FileWatch watch;
//   watch.opened("rank3.json", descriptor);   // after each open
//   watch.read("rank3.json", descriptor);     // after each complete read
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace traceloom {

// The facts by which a file that was written to, cut or replaced differs from the earlier one.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // time of the last change of its bytes (mtime)

  friend bool operator==(const FileState&, const FileState&) = default;
};

// Watches regular files only. Thread-safe.
class FileWatch {
 public:
  // Both throw Error if the file differs from the one that was opened first. A file that is removed
  // while it is read stays whole for its readers, so that is no error.
  void opened(const std::string& path, int descriptor);
  void read(const std::string& path, int descriptor) const;

 private:
  std::optional<FileState> known(const std::string& path) const;

  mutable std::mutex mutex_;
  std::map<std::string, FileState> states_;
};

}  // namespace traceloom
