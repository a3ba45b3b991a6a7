#include "record/host/proc_file.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace traceloom::record {

ProcFile::ProcFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ProcFile::~ProcFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string_view ProcFile::read() {
  constexpr std::size_t kFirstSize = 4096;
  if (descriptor_ < 0) return {};
  if (text_.size() < kFirstSize) text_.resize(kFirstSize);
  std::size_t size = 0;
  while (true) {
    // Reading from the start makes the kernel write the text anew; what does not fit is read from
    // there on.
    const ssize_t count =
        pread(descriptor_, text_.data() + size, text_.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
    if (size == text_.size()) text_.resize(text_.size() * 2);
  }
  return std::string_view(text_).substr(0, size);
}

}  // namespace traceloom::record
