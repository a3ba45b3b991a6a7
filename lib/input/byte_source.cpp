#include "input/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace traceloom {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The state of a pipe, folder or device: nothing is known about it, and it equals no regular file.
constexpr FileState kNoFile{};

FileState state_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return kNoFile;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          kNsPerSecond * status.st_mtim.tv_sec + status.st_mtim.tv_nsec};
}

std::optional<FileState> state_of(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 ? std::optional(state_of(status)) : std::nullopt;
}

std::optional<FileState> state_of(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? std::optional(state_of(status)) : std::nullopt;
}

std::string what_changed(const FileState& before, const FileState& now) {
  if (before.device != now.device || before.inode != now.inode)
    return "another file has taken its place";
  if (before.size != now.size)
    return fmt::format("it had {} bytes and has {}", before.size, now.size);
  return "it was written to";
}

void compare(const std::string& path, const FileState& before,
             const std::optional<FileState>& now) {
  if (!now || *now == before) return;
  throw Error(path == "-" ? "stdin" : path,
              fmt::format("the file changed while it was read ({}); read it again when it "
                          "is complete",
                          what_changed(before, *now)));
}

}  // namespace

void FileWatch::opened(const std::string& path, int descriptor) {
  const std::optional<FileState> now = state_of(descriptor);
  if (!now) return;
  const auto first = [&] {
    const std::lock_guard lock(mutex_);
    if (*now != kNoFile) states_.try_emplace(path, *now);
    const auto state = states_.find(path);
    return state == states_.end() ? *now : state->second;
  }();
  compare(path, first, now);
}

void FileWatch::read(const std::string& path, int descriptor) const {
  const std::optional<FileState> before = known(path);
  if (!before) return;
  compare(path, *before, state_of(descriptor));
  if (path != "-") compare(path, *before, state_of(path));
}

std::optional<FileState> FileWatch::known(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto state = states_.find(path);
  return state == states_.end() ? std::nullopt : std::optional(state->second);
}

std::optional<SeekableFile> SeekableFile::open(const std::string& path, FileWatch* watch) {
  // A pipe is not even opened: its writer would find a reader, and lose it again. O_NONBLOCK is
  // for a pipe that takes the file's place now, since opening it would wait for a writer.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (watch != nullptr) watch->opened(path, file);
  return SeekableFile(std::move(file), static_cast<std::uint64_t>(status.st_size));
}

std::string SeekableFile::read(std::uint64_t offset, std::size_t size) const {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = pread(file_, text.data() + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  text.resize(got);
  return text;
}

namespace {

// Linux moves at most 2 GiB in one read().
constexpr std::size_t kMaxReadBytes = std::size_t{1} << 30;

constexpr const char* kIsDirectory = "is a directory; name the files in it";

// The position where "-" begins each time, once make_stdin_rereadable() has been called.
off_t stdin_start = -1;

int open_for_reading(const std::string& path) {
  if (path == "-") {
    if (stdin_start >= 0) lseek(STDIN_FILENO, stdin_start, SEEK_SET);
    return STDIN_FILENO;
  }
  // O_NONBLOCK is needed because opening a pipe without a writer would wait for ever.
  const auto descriptor =
      static_cast<int>(TEMP_FAILURE_RETRY(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  if (descriptor < 0) throw system_error(path, errno);
  return descriptor;
}

// The time that a pipe has for its first byte, or its writer to appear.
constexpr int kPipeWaitMs = 2'000;

// Refuses a device, which need not have an end. Reading a pipe waits for its writer afterwards; a
// pipe that has none is empty.
void prepare_special(const std::string& path, int descriptor, mode_t mode) {
  if (S_ISCHR(mode) || S_ISBLK(mode)) throw Error(path, "is a device; name a file or a pipe");
  if (!S_ISFIFO(mode)) return;
  pollfd pipe{descriptor, POLLIN, 0};
  poll(&pipe, 1, kPipeWaitMs);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

// Throws with the reason in errno.
[[noreturn]] void throw_cannot_copy_stdin() {
  throw Error("temporary copy of stdin",
              fmt::format("{}: {}; TMPDIR names another folder", temporary_folder(),
                          std::generic_category().message(errno)));
}

void append_to_copy(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      throw_cannot_copy_stdin();
  }
}

}  // namespace

void UnpackedSource::add_end(std::optional<Problem> reason, std::uint64_t text_bytes) {
  const ProblemCounts& below = packed_->problems();
  if (reason && !below.has_loss()) problems_.add(*reason, text_bytes);
  for (const Problem kind : below.kinds()) problems_.add(kind, text_bytes, below.count(kind));
}

std::string input_name(const std::string& path) {
  return path == "-" ? "stdin" : path;
}

void make_stdin_rereadable() {
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
    stdin_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return;
  }
  const Descriptor copy = open_unnamed_file(temporary_folder());
  if (copy < 0) throw_cannot_copy_stdin();
  PlainSource source("-");
  std::vector<char> buffer(std::size_t{1} << 18);
  while (const std::size_t size = source.read(buffer))
    append_to_copy(copy, std::string_view(buffer.data(), size));
  if (dup2(copy, STDIN_FILENO) < 0) throw_cannot_copy_stdin();
  stdin_start = 0;
}

PlainSource::PlainSource(const std::string& path, FileWatch* watch)
    : path_(path),
      watch_(watch != nullptr ? *watch : own_watch_),
      descriptor_(open_for_reading(path)),
      file_(descriptor_ == STDIN_FILENO ? -1 : descriptor_) {
  struct stat status = {};
  watch_.opened(path_, descriptor_);
  if (fstat(descriptor_, &status) != 0) return;
  if (file_ >= 0) prepare_special(path_, file_, status.st_mode);
  if (!S_ISREG(status.st_mode)) return;
  // Files in /proc report size 0 but hold text; stdin may start in the middle of its file.
  const off_t position = std::max<off_t>(lseek(descriptor_, 0, SEEK_CUR), 0);
  if (status.st_size > position) size_ = static_cast<std::uint64_t>(status.st_size - position);
}

void PlainSource::check_unchanged() const {
  watch_.read(path_, descriptor_);
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
      throw Error(input_name(path_), kIsDirectory);
    } else if (errno != EINTR) {
      throw system_error(input_name(path_), errno);
    }
  }
  bytes_read_ += filled;
  return filled;
}

}  // namespace traceloom
