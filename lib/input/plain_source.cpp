#include "input/plain_source.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace traceloom {
namespace {

// Linux moves at most 2 GiB in one read() anyway.
constexpr std::size_t kMaxReadBytes = std::size_t{1} << 30;

constexpr const char* kIsDirectory = "is a directory; name the files in it";

// Where "-" begins each time, once make_stdin_rereadable() has been called.
off_t stdin_start = -1;

int open_for_reading(const std::string& path) {
  if (path == "-") {
    if (stdin_start >= 0) lseek(STDIN_FILENO, stdin_start, SEEK_SET);
    return STDIN_FILENO;
  }
  for (;;) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) throw system_error(path, errno);
  }
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == "-" ? "stdin" : path;
}

void make_stdin_rereadable() {
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
    stdin_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> copy(std::tmpfile(), std::fclose);
  if (!copy) throw system_error("temporary copy of stdin", errno);
  PlainSource source("-");
  std::vector<char> buffer(std::size_t{1} << 18);
  while (const std::size_t size = source.read(buffer))
    if (std::fwrite(buffer.data(), 1, size, copy.get()) != size)
      throw system_error("temporary copy of stdin", errno);
  if (std::fflush(copy.get()) != 0 || dup2(fileno(copy.get()), STDIN_FILENO) < 0)
    throw system_error("temporary copy of stdin", errno);
  stdin_start = 0;
}

PlainSource::PlainSource(const std::string& path)
    : name_(input_name(path)), descriptor_(open_for_reading(path)) {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  // Files in /proc say 0 and hold something; stdin may stand in the middle of its file.
  const off_t position = std::max<off_t>(lseek(descriptor_, 0, SEEK_CUR), 0);
  if (status.st_size > position) size_ = static_cast<std::uint64_t>(status.st_size - position);
}

PlainSource::~PlainSource() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

std::size_t PlainSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const std::size_t wanted = std::min(buffer.size() - filled, kMaxReadBytes);
    const ssize_t got = ::read(descriptor_, buffer.data() + filled, wanted);
    if (got == 0) break;
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (errno == EISDIR) {
      throw Error(name_, kIsDirectory);
    } else if (errno != EINTR) {
      throw system_error(name_, errno);
    }
  }
  bytes_read_ += filled;
  return filled;
}

}  // namespace traceloom
