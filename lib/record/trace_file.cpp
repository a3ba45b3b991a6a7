#include "record/trace_file.h"

#include "base/error.h"
#include "output/gzip_sink.h"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace traceloom::record {
namespace {

using namespace std::string_view_literals;

// Deflate, no flags, no time, no hint, unknown system.
constexpr std::string_view kGzipHeader = "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv;
constexpr std::string_view kLastBlock = "\x03\0"sv;
constexpr std::string_view kUnfinished = ".unfinished";
constexpr mode_t kMode = 0666;

// Where the endings of a name begin: ".json", ".json.gz", ".pt.trace.json".
std::size_t endings_of(const std::string& path) {
  std::size_t end = path.size();
  for (const std::string_view ending : {".gz"sv, ".json"sv, ".trace"sv, ".pt"sv})
    if (std::string_view(path).substr(0, end).ends_with(ending)) end -= ending.size();
  return end;
}

}  // namespace

std::string unfinished_path(const std::string& path) {
  return std::string(path).insert(endings_of(path), kUnfinished);
}

std::string finished_path(const std::string& unfinished) {
  const std::size_t end = endings_of(unfinished);
  const std::string_view stem = std::string_view(unfinished).substr(0, end);
  if (!stem.ends_with(kUnfinished)) return unfinished;
  return std::string(unfinished).erase(end - kUnfinished.size(), kUnfinished.size());
}

std::string numbered_path(const std::string& path, unsigned number) {
  return std::string(path).insert(endings_of(path), "-" + std::to_string(number));
}

TraceFile::TraceFile(const std::string& path, int gzip_level)
    : path_(path), gzip_level_(gzip_level), is_gzip_(is_gzip_name(path)) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (file_ < 0) throw system_error(path, errno);
  try {
    if (is_gzip_) write_bytes(kGzipHeader);
  } catch (const Error&) {
    ::close(file_);
    throw;
  }
}

TraceFile::TraceFile(const std::string& path, int gzip_level, const FileState& state)
    : path_(path), gzip_level_(gzip_level), is_gzip_(is_gzip_name(path)), state_(state) {
  file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) throw system_error(path, errno);
  struct stat info {};
  // A file that lacks a part of what was written is not the one that `state` is about.
  const bool fits = fstat(file_, &info) == 0 && info.st_size >= static_cast<off_t>(state.bytes);
  if (!fits || ftruncate(file_, static_cast<off_t>(state.bytes)) != 0 ||
      lseek(file_, 0, SEEK_END) < 0) {
    const int reason = fits ? errno : EINVAL;
    ::close(file_);
    throw system_error(path, reason);
  }
}

TraceFile::~TraceFile() {
  if (file_ >= 0) ::close(file_);
}

void TraceFile::write(std::string_view text) {
  if (text.empty()) return;
  if (!is_gzip_) {
    write_bytes(text);
    state_.text_bytes += text.size();
    return;
  }
  const CompressedBlock block = compress_block(text, gzip_level_);
  write_bytes(block.deflated);
  state_.text_bytes += text.size();
  state_.crc32 = static_cast<std::uint32_t>(
      crc32_combine(state_.crc32, block.crc32, static_cast<z_off_t>(block.text_size)));
}

void TraceFile::write_bytes(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
      continue;
    }
    // A full disk takes a part first, and then nothing: half an event must not stay.
    const int reason = count == 0 ? ENOSPC : errno;
    if (ftruncate(file_, static_cast<off_t>(state_.bytes)) == 0)
      lseek(file_, static_cast<off_t>(state_.bytes), SEEK_SET);
    throw system_error(path_, reason);
  }
  state_.bytes += bytes.size();
}

std::string TraceFile::finish(const std::string& path, bool overwrite) {
  if (is_gzip_) {
    std::array<char, 8> trailer{};
    for (unsigned i = 0; i < 4; ++i) {
      trailer[i] = static_cast<char>(state_.crc32 >> (8 * i));
      trailer[4 + i] = static_cast<char>(state_.text_bytes >> (8 * i));
    }
    write_bytes(std::string(kLastBlock) + std::string(trailer.data(), trailer.size()));
  }
  const int result = ::close(file_);
  file_ = -1;
  if (result != 0) throw system_error(path_, errno);
  std::string name = path;
  if (overwrite) {
    if (std::rename(path_.c_str(), name.c_str()) != 0) throw system_error(name, errno);
    return name;
  }
  // link() refuses to replace; not every file system has it, and rename() does there.
  for (unsigned number = 2; link(path_.c_str(), name.c_str()) != 0; ++number) {
    if (errno == EEXIST) {
      name = numbered_path(path, number);
      continue;
    }
    if (access(name.c_str(), F_OK) == 0) {
      name = numbered_path(path, number);
      continue;
    }
    if (std::rename(path_.c_str(), name.c_str()) != 0) throw system_error(name, errno);
    return name;
  }
  unlink(path_.c_str());
  return name;
}

}  // namespace traceloom::record
