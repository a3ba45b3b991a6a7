// ProcFile: a file of /proc that stays open and is read anew each time.
#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace traceloom::record {

class ProcFile {
 public:
  // A file that cannot be opened reads as empty.
  explicit ProcFile(const std::string& path);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }
  // Returns the whole text as it is now, valid until the next call; empty if it cannot be read (any
  // more).
  std::string_view read();

 private:
  std::string path_;
  int descriptor_;
  std::string text_;
};

}  // namespace traceloom::record

#pragma GCC visibility pop
