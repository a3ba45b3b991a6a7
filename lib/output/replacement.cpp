#include "output/replacement.h"

#include "base/ascii.h"
#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxTemporaryNames = 100;
constexpr std::size_t kMaxNameBytes = 200;  // limit for NAME, because a file name may have 255
                                            // bytes in all
constexpr std::string_view kEnding = ".tmp";

// Returns the beginning that the names of all temporary files for `target` share.
std::string temporary_stem(const fs::path& target) {
  return fmt::format(".{}.traceloom-", target.filename().string().substr(0, kMaxNameBytes));
}

bool is_temporary_name(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || !name.ends_with(kEnding)) return false;
  if (name.size() <= stem.size() + kEnding.size()) return false;
  const std::string_view number =
      name.substr(stem.size(), name.size() - stem.size() - kEnding.size());
  return std::all_of(number.begin(), number.end(), [](char c) { return is_digit(c) || c == '-'; });
}

[[noreturn]] void throw_cannot_create(const std::string& path, const fs::path& folder,
                                      int error_number) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    throw Error(path,
                fmt::format("the directory {} does not exist; create it first", folder.string()));
  const std::string reason = std::generic_category().message(error_number);
  throw Error(path, fmt::format("cannot create a file in {}: {}", folder.string(), reason));
}

int open_retrying_new(const std::string& path, mode_t mode) {
  for (;;) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

bool is_file_of(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Locks a new temporary file. Returns false if another process that cleans up was faster and
// removes the file. On a file system without locks it returns true, because no process can consider
// the file abandoned there.
bool lock_new(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

void remove_if_abandoned(const std::string& path) {
  struct stat named = {};
  if (lstat(path.c_str(), &named) != 0 || !S_ISREG(named.st_mode) || named.st_uid != geteuid())
    return;
  // The file is opened for writing because some file systems (NFS) lock no other descriptors.
  const int descriptor = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat opened = {};
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &opened) == 0 &&
      lstat(path.c_str(), &named) == 0 && is_file_of(opened, named))
    unlink(path.c_str());
  close(descriptor);
}

void remove_abandoned(const fs::path& folder, const std::string& stem) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_temporary_name(entry->path().filename().native(), stem))
      remove_if_abandoned(entry->path().native());
}

}  // namespace

fs::path folder_of(const fs::path& target) {
  const fs::path folder = target.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Replacement::Replacement(std::string path, fs::path target, std::optional<mode_t> mode)
    : path_(std::move(path)), target_(std::move(target)) {
  create(mode);
  entry_.emplace(temporary_);
  lock_ = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

Replacement::~Replacement() {
  if (!done_) unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
  if (lock_ >= 0) ::close(lock_);
}

// A name that is taken is skipped: its owner may have the same process id in another container.
void Replacement::create(std::optional<mode_t> mode) {
  const fs::path folder = folder_of(target_);
  const std::string stem = temporary_stem(target_);
  remove_abandoned(folder, stem);
  const mode_t wanted = mode.value_or(0666) & 0777U;
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    const std::string suffix = attempt == 0 ? "" : fmt::format("-{}", attempt);
    temporary_ = (folder / fmt::format("{}{}{}{}", stem, getpid(), suffix, kEnding)).string();
    descriptor_ = open_retrying_new(temporary_, wanted);
    if (descriptor_ < 0 && errno != EEXIST) throw_cannot_create(path_, folder, errno);
    if (descriptor_ < 0) continue;
    if (lock_new(descriptor_)) break;
    ::close(std::exchange(descriptor_, -1));
  }
  if (descriptor_ < 0) throw_cannot_create(path_, folder, EEXIST);
  // The umask may have removed some permissions.
  struct stat status = {};
  if (!mode || fstat(descriptor_, &status) != 0 || (status.st_mode & 0777U) == wanted) return;
  if (fchmod(descriptor_, wanted) == 0) return;
  const int error = errno;
  unlink(temporary_.c_str());
  ::close(descriptor_);
  throw system_error(path_, error);
}

void Replacement::complete() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    throw system_error(path_, errno);
}

void Replacement::replace_target() {
  done_ = std::rename(temporary_.c_str(), target_.c_str()) == 0;
  if (!done_) throw system_error(path_, errno);
}

}  // namespace traceloom
