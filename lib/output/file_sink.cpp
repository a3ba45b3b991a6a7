#include "output/file_sink.h"

#include "base/ascii.h"
#include "base/file_system.h"
#include "base/problems.h"
#include "base/units.h"

#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
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

// A signal handler can interrupt any thread anywhere. So there are no locks and no memory from the
// heap, and only the code that has moved a slot out of `ready` reads its path.
enum class SlotState : int { free, changing, ready, removing, folder, removed };

struct Slot {
  std::atomic<SlotState> state = SlotState::free;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

constexpr int kNoSlot = -1;
constexpr int kSlots = 64;
constinit std::array<Slot, kSlots> slots{};

bool move(Slot& slot, SlotState from, SlotState to) {
  return slot.state.compare_exchange_strong(from, to);
}

int remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (!move(slot, SlotState::free, SlotState::changing)) continue;
    slot.path[path.copy(slot.path.data(), path.size())] = '\0';
    slot.state = SlotState::ready;
    return i;
  }
  return kNoSlot;
}

}  // namespace

TemporaryFileEntry::TemporaryFileEntry(const std::string& path) noexcept : slot_(remember(path)) {}

TemporaryFileEntry::~TemporaryFileEntry() {
  if (slot_ == kNoSlot) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  // A slot that a handler is reading at this moment stays taken; the process is about to end.
  if (!move(slot, SlotState::ready, SlotState::free))
    move(slot, SlotState::removed, SlotState::free);
}

void remove_temporary_files() noexcept {
  const int saved_errno = errno;  // it belongs to the interrupted code
  for (Slot& slot : slots) {
    if (!move(slot, SlotState::ready, SlotState::removing)) continue;
    const bool is_folder = unlink(slot.path.data()) != 0 && errno == EISDIR;
    slot.state = is_folder ? SlotState::folder : SlotState::removed;
  }
  // They are empty only now.
  for (Slot& slot : slots) {
    if (!move(slot, SlotState::folder, SlotState::removing)) continue;
    rmdir(slot.path.data());
    slot.state = SlotState::removed;
  }
  errno = saved_errno;
}

int move_to_new_name(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno == EEXIST) return EEXIST;
  // Some file systems lack RENAME_NOREPLACE. There link() also refuses to replace; without links,
  // only a plain rename is left.
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
    return 0;
  }
  if (errno == EEXIST || access(to.c_str(), F_OK) == 0) return EEXIST;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

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
  return std::ranges::all_of(number, [](char c) { return is_digit(c) || c == '-'; });
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

bool is_file_of(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

bool lock_new(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

void remove_if_abandoned(const std::string& path) {
  struct stat named = {};
  if (lstat(path.c_str(), &named) != 0 || named.st_uid != geteuid()) return;
  const bool is_folder = S_ISDIR(named.st_mode);
  if (!is_folder && !S_ISREG(named.st_mode)) return;
  // The file is opened for writing because some file systems (NFS) lock no other descriptors.
  const int use = is_folder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_NONBLOCK;
  const Descriptor file(open(path.c_str(), use | O_NOFOLLOW | O_CLOEXEC));
  if (file < 0) return;
  struct stat opened = {};
  std::error_code ignored;  // then the next process tries
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &opened) == 0 &&
      lstat(path.c_str(), &named) == 0 && is_file_of(opened, named))
    fs::remove_all(path, ignored);
}

namespace {

void remove_abandoned(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_temporary_name(entry->path().filename().native(), stem) && !entry->is_directory(ignored))
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
  lock_ = Descriptor(fcntl(file_, F_DUPFD_CLOEXEC, 0));
}

Replacement::~Replacement() {
  if (!done_) unlink(temporary_.c_str());
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
    file_ = Descriptor(static_cast<int>(TEMP_FAILURE_RETRY(
        open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, wanted))));
    if (file_ < 0 && errno != EEXIST) throw_cannot_create(path_, folder, errno);
    if (file_ < 0) continue;
    if (lock_new(file_)) break;
    file_.close();
  }
  if (file_ < 0) throw_cannot_create(path_, folder, EEXIST);
  // The umask may have removed some permissions.
  struct stat status = {};
  if (!mode || fstat(file_, &status) != 0 || (status.st_mode & 0777U) == wanted) return;
  if (fchmod(file_, wanted) == 0) return;
  const int error = errno;
  unlink(temporary_.c_str());
  throw system_error(path_, error);
}

void Replacement::complete() {
  if (!file_.close()) throw system_error(path_, errno);
}

void Replacement::replace_target() {
  done_ = std::rename(temporary_.c_str(), target_.c_str()) == 0;
  if (!done_) throw system_error(path_, errno);
}

namespace {

namespace fs = std::filesystem;

// gathering saves a system call for each small write
constexpr std::size_t kGatherBytes = std::size_t{64} << 10;
// A file allocates its blocks this far ahead: 500 MB are then written in 0.073 s instead of 0.103
// (in writes of 1 MiB; ext4, Linux 6.18).
constexpr std::uint64_t kRoomBytes = std::uint64_t{32} << 20;

class GatheringSink : public Sink {
 public:
  void write(std::string_view bytes) override {
    if (gathered_.size() + bytes.size() >= kGatherBytes) flush();
    if (bytes.size() >= kGatherBytes)
      write_all(bytes);
    else
      gathered_.append(bytes);
  }

 protected:
  void flush() {
    write_all(gathered_);
    gathered_.clear();
  }
  virtual void write_all(std::string_view bytes) = 0;

 private:
  std::string gathered_;
};

class FileSink : public GatheringSink {
 public:
  FileSink(Descriptor file, std::string name)
      : file_(std::move(file)), descriptor_(file_), name_(std::move(name)) {}
  FileSink(std::unique_ptr<Replacement> replacement, std::string name)
      : descriptor_(replacement->descriptor()),
        name_(std::move(name)),
        replacement_(std::move(replacement)),
        asks_for_room_(true) {}

  void complete() override {
    if (is_complete_) return;
    is_complete_ = true;
    flush();
    give_back_room();
    if (replacement_) replacement_->complete();
    if (!file_.close()) throw system_error(name_, errno);
  }

  void close() override {
    complete();
    if (replacement_) replacement_->replace_target();
  }

  FileGap leave_gap(std::uint64_t bytes) override {
    if (!replacement_) return Sink::leave_gap(bytes);
    flush();
    FileGap gap{fs::absolute(replacement_->temporary()).string(), written_};
    written_ += bytes;
    if (lseek(descriptor_, static_cast<off_t>(written_), SEEK_SET) < 0)
      throw system_error(name_, errno);
    return gap;
  }

 private:
  // Allocates blocks for the bytes that follow. After a failure (the file system does not support
  // it, or has too few blocks left) it does not try again: if there is an error, write() will
  // report it.
  void make_room(std::size_t bytes) {
    while (asks_for_room_ && written_ + bytes > room_) {
      asks_for_room_ = fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(room_),
                                 static_cast<off_t>(kRoomBytes)) == 0;
      if (asks_for_room_) room_ += kRoomBytes;
    }
  }

  // Blocks after the end of a file belong to the file until it is truncated there.
  void give_back_room() {
    if (room_ > written_ && ftruncate(descriptor_, static_cast<off_t>(written_)) != 0)
      throw system_error(name_, errno);
  }

  void write_all(std::string_view bytes) override {
    make_room(bytes.size());
    while (!bytes.empty()) {
      const ssize_t result = ::write(descriptor_, bytes.data(), bytes.size());
      if (result >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(result));
        written_ += static_cast<std::uint64_t>(result);
      } else if (errno != EINTR) {
        throw system_error(name_, errno);
      }
    }
  }

  Descriptor file_;  // the target itself, if there is no replacement
  int descriptor_;
  std::string name_;
  std::unique_ptr<Replacement> replacement_;
  std::uint64_t written_ = 0;
  std::uint64_t room_ = 0;  // end of the allocated blocks, in bytes
  bool asks_for_room_ = false;
  bool is_complete_ = false;
};

class StandardOutput : public GatheringSink {
 public:
  explicit StandardOutput(StdoutUse use)
      : use_(use), escapes_(!use.for_people && isatty(STDOUT_FILENO) == 1) {}

  void write(std::string_view bytes) override {
    GatheringSink::write(escapes_ ? std::string_view(printable_lines(bytes)) : bytes);
  }
  void complete() override { flush(); }
  void close() override { complete(); }

 private:
  void write_all(std::string_view bytes) override {
    while (!bytes.empty() && !reader_is_gone_) {
      const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EPIPE) {
        if (!use_.outlives_reader) throw ClosedPipe();
        reader_is_gone_ = true;
      } else if (errno != EINTR) {
        throw system_error("stdout", errno);
      }
    }
  }

  StdoutUse use_;
  bool escapes_;
  bool reader_is_gone_ = false;
};

// Returns the end of the chain of links at `path`; the file need not exist.
fs::path follow_links(const std::string& path) {
  if (std::optional<fs::path> end = end_of_links(path)) return *std::move(end);
  throw system_error(path, ELOOP);
}

std::unique_ptr<Sink> open_replacing(const std::string& path, std::optional<mode_t> mode) {
  const fs::path target = follow_links(path);
  if (target.filename().empty()) throw Error(path, "names no file");
  return std::make_unique<FileSink>(std::make_unique<Replacement>(path, target, mode), path);
}

std::unique_ptr<Sink> open_directly(const std::string& path) {
  Descriptor file(static_cast<int>(TEMP_FAILURE_RETRY(open(path.c_str(), O_WRONLY | O_CLOEXEC))));
  if (file < 0) throw system_error(path, errno);
  return std::make_unique<FileSink>(std::move(file), path);
}

}  // namespace

std::unique_ptr<Sink> open_file_sink(const std::string& path, StdoutUse stdout_use) {
  if (path.empty()) throw UsageError("the name of the output is empty (an unset variable?)");
  if (path == "-") return std::make_unique<StandardOutput>(stdout_use);
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw system_error(path, errno);
    return open_replacing(path, std::nullopt);
  }
  if (S_ISDIR(status.st_mode)) throw Error(path, "is a directory; name a file in it");
  if (!S_ISREG(status.st_mode)) return open_directly(path);
  // A rename does not check the permissions of the file it replaces, so this check protects a
  // read-only file.
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) throw system_error(path, errno);
  return open_replacing(path, status.st_mode);
}

fs::path folder_written_to(const std::string& path) {
  return folder_of(follow_links(path));
}

bool is_written_aside(const std::string& path) {
  struct stat status = {};
  return path != "-" && (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode));
}

}  // namespace traceloom
