#include "output/file_sink.h"

#include "base/error.h"
#include "base/links.h"
#include "output/temporary_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGatherBytes = std::size_t{64} << 10;  // saves a system call a small write
// A file asks for its blocks this far ahead: 500 MB are written in 0.073 s and not in 0.103 (in
// writes of 1 MiB; ext4, Linux 6.18).
constexpr std::uint64_t kRoomBytes = std::uint64_t{32} << 20;
constexpr int kMaxTemporaryNames = 100;
constexpr std::size_t kMaxNameBytes = 200;  // of NAME in .NAME.PID.tmp, which may have 255 in all

// A temporary file that takes the place of `target` when it is complete, and goes away otherwise.
class Replacement {
 public:
  Replacement(std::string temporary, std::string target)
      : temporary_(std::move(temporary)), target_(std::move(target)), entry_(temporary_) {}
  ~Replacement() {
    if (!done_) unlink(temporary_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // False with errno when it failed.
  bool replace_target() {
    done_ = std::rename(temporary_.c_str(), target_.c_str()) == 0;
    return done_;
  }

 private:
  std::string temporary_;
  std::string target_;
  TemporaryFileEntry entry_;
  bool done_ = false;
};

class FileSink : public Sink {
 public:
  enum class Kind : std::uint8_t { file, standard_output };

  // Without a `replacement` the descriptor's file is the target itself.
  FileSink(Kind kind, int descriptor, std::string name, std::unique_ptr<Replacement> replacement)
      : kind_(kind),
        descriptor_(descriptor),
        name_(std::move(name)),
        replacement_(std::move(replacement)),
        asks_for_room_(replacement_ != nullptr) {}

  ~FileSink() override {
    if (kind_ == Kind::file && descriptor_ >= 0) ::close(descriptor_);
  }

  void write(std::string_view bytes) override {
    if (gathered_.size() + bytes.size() >= kGatherBytes) flush();
    if (bytes.size() >= kGatherBytes)
      write_all(bytes);
    else
      gathered_.append(bytes);
  }

  void close() override {
    flush();
    if (kind_ == Kind::standard_output) return;
    give_back_room();
    // Some file systems (NFS, quotas) say only here that there was no room.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
      throw system_error(name_, errno);
    if (replacement_ && !replacement_->replace_target()) throw system_error(name_, errno);
  }

 private:
  void flush() {
    write_all(gathered_);
    gathered_.clear();
  }

  // Asks for the blocks of what is about to be written. A file system that cannot give them, or has
  // not so many left, is not asked again: write() will say what is wrong, if anything is.
  void make_room(std::size_t bytes) {
    while (asks_for_room_ && written_ + bytes > room_) {
      asks_for_room_ = fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(room_),
                                 static_cast<off_t>(kRoomBytes)) == 0;
      if (asks_for_room_) room_ += kRoomBytes;
    }
  }

  // Blocks behind its end stay with a file until somebody cuts it there.
  void give_back_room() {
    if (room_ > written_ && ftruncate(descriptor_, static_cast<off_t>(written_)) != 0)
      throw system_error(name_, errno);
  }

  void write_all(std::string_view bytes) {
    make_room(bytes.size());
    while (!bytes.empty()) {
      const ssize_t result = ::write(descriptor_, bytes.data(), bytes.size());
      if (result >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(result));
        written_ += static_cast<std::uint64_t>(result);
      } else if (errno == EPIPE && kind_ == Kind::standard_output) {
        throw ClosedPipe();
      } else if (errno != EINTR) {
        throw system_error(name_, errno);
      }
    }
  }

  Kind kind_;
  int descriptor_;
  std::string name_;
  std::unique_ptr<Replacement> replacement_;
  std::string gathered_;
  std::uint64_t written_ = 0;
  std::uint64_t room_ = 0;  // how far the file has blocks
  bool asks_for_room_;
};

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  for (;;) {
    const int descriptor = open(path.c_str(), flags | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

// Where the chain of links at `path` ends; nothing need be there yet.
fs::path follow_links(const std::string& path) {
  if (std::optional<fs::path> end = end_of_links(path)) return *std::move(end);
  throw system_error(path, ELOOP);
}

fs::path folder_of(const fs::path& target) {
  const fs::path folder = target.parent_path();
  return folder.empty() ? fs::path(".") : folder;
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

// Opens a file beside `target` that no one else has: a name left over from a killed run with the
// same process id (usual in containers) is passed over, since its owner may live in another
// container.
std::pair<int, std::string> create_temporary(const std::string& path, const fs::path& target) {
  const fs::path folder = folder_of(target);
  const std::string name = target.filename().string().substr(0, kMaxNameBytes);
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    const std::string suffix = attempt == 0 ? "" : fmt::format("-{}", attempt);
    const fs::path temporary = folder / fmt::format(".{}.{}{}.tmp", name, getpid(), suffix);
    const int descriptor = open_retrying(temporary.string(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0) return {descriptor, temporary.string()};
    if (errno != EEXIST) throw_cannot_create(path, folder, errno);
  }
  throw_cannot_create(path, folder, EEXIST);
}

std::unique_ptr<Sink> open_replacing(const std::string& path, std::optional<mode_t> mode) {
  const fs::path target = follow_links(path);
  if (target.filename().empty()) throw Error(path, "names no file");
  auto [descriptor, temporary] = create_temporary(path, target);
  auto sink = std::make_unique<FileSink>(
      FileSink::Kind::file, descriptor, path,
      std::make_unique<Replacement>(std::move(temporary), target.string()));
  if (mode && fchmod(descriptor, *mode & 0777U) != 0) throw system_error(path, errno);
  return sink;
}

std::unique_ptr<Sink> open_directly(const std::string& path) {
  const int descriptor = open_retrying(path, O_WRONLY);
  if (descriptor < 0) throw system_error(path, errno);
  return std::make_unique<FileSink>(FileSink::Kind::file, descriptor, path, nullptr);
}

}  // namespace

std::unique_ptr<Sink> open_file_sink(const std::string& path) {
  if (path.empty()) throw UsageError("the name of the output is empty (an unset variable?)");
  if (path == "-")
    return std::make_unique<FileSink>(FileSink::Kind::standard_output, STDOUT_FILENO, "stdout",
                                      nullptr);
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw system_error(path, errno);
    return open_replacing(path, std::nullopt);
  }
  if (S_ISDIR(status.st_mode)) throw Error(path, "is a directory; name a file in it");
  if (!S_ISREG(status.st_mode)) return open_directly(path);
  // Renaming over a file asks nobody; one that its owner protected is left alone.
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
