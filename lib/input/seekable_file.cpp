#include "input/seekable_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace traceloom {

std::optional<SeekableFile> SeekableFile::open(const std::string& path, FileWatch* watch) {
  // O_NONBLOCK is needed because opening a pipe without a writer would wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  SeekableFile file(descriptor, 0);
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (watch != nullptr) watch->opened(path, descriptor);
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

SeekableFile::~SeekableFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

SeekableFile::SeekableFile(SeekableFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

std::string SeekableFile::read(std::uint64_t offset, std::size_t size) const {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n =
        pread(descriptor_, text.data() + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  text.resize(got);
  return text;
}

}  // namespace traceloom
