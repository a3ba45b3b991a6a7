#include "input/file_watch.h"

#include "base/error.h"

#include <fmt/format.h>

#include <sys/stat.h>

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

}  // namespace traceloom
