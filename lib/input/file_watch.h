// FileWatch: sees to it that all passes over some files read the same bytes.
//
//   FileWatch watch;
//   watch.opened("rank3.json", descriptor);   // each time it is opened
//   watch.read("rank3.json", descriptor);     // each time all that is wanted of it has been read
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace traceloom {

// What tells a file that was written to, cut or replaced from the one that was there.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // when its bytes last were (mtime)

  friend bool operator==(const FileState&, const FileState&) = default;
};

// Only regular files are looked at. Thread-safe.
class FileWatch {
 public:
  // Both throw Error when the file is not as it was when it was opened first. A file that has been
  // removed while it was read is still whole for who has it open, and no error.
  void opened(const std::string& path, int descriptor);
  void read(const std::string& path, int descriptor) const;

 private:
  std::optional<FileState> known(const std::string& path) const;

  mutable std::mutex mutex_;
  std::map<std::string, FileState> states_;
};

}  // namespace traceloom
