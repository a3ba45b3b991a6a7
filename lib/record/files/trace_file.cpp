#include "record/files/trace_file.h"

#include "base/problems.h"
#include "output/sink.h"
#include "record/support/process_support.h"

#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace traceloom::record {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUnfinished = ".unfinished";
constexpr mode_t kMode = 0666;

// Returns the place where the endings of a name begin: ".json", ".json.gz", ".pt.trace.json".
std::size_t endings_of(const std::string& path) {
  std::size_t end = path.size();
  for (const std::string_view ending : {".gz"sv, ".zst"sv, ".json"sv, ".trace"sv, ".pt"sv})
    if (std::string_view(path).substr(0, end).ends_with(ending)) end -= ending.size();
  return end;
}

// Puts `addition` before the endings of a name. If no file system would take the result, the stem
// becomes shorter; a name that is too long without the addition stays so, and is refused.
std::string with_addition(const std::string& path, std::string_view addition) {
  const std::size_t end = endings_of(path);
  const std::size_t begin = path.rfind('/') + 1;  // 0 without a folder
  const std::size_t size = path.size() - begin;
  std::size_t cut = end;
  if (size <= NAME_MAX && size + addition.size() > NAME_MAX) {
    const auto is_inside_letter = [&] { return (static_cast<unsigned char>(path[cut]) >> 6) == 2; };
    cut -= std::min(size + addition.size() - NAME_MAX, end - begin);
    while (cut > begin && is_inside_letter()) --cut;  // a letter of UTF-8 stays whole
  }
  return fmt::format("{}{}{}", std::string_view(path).substr(0, cut), addition,
                     std::string_view(path).substr(end));
}

// Returns the path under which linkat() finds a file that has no name.
std::string descriptor_path(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

int level_for(Packing packing, int gzip_level) {
  return packing == Packing::gzip ? gzip_level : level_or_default(0, packing);
}

}  // namespace

std::uint64_t inode_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

std::string unfinished_path(const std::string& path) {
  return with_addition(path, kUnfinished);
}

std::string finished_path(const std::string& unfinished) {
  const std::size_t end = endings_of(unfinished);
  const std::string_view stem = std::string_view(unfinished).substr(0, end);
  if (!stem.ends_with(kUnfinished)) return unfinished;
  return std::string(unfinished).erase(end - kUnfinished.size(), kUnfinished.size());
}

std::string numbered_path(const std::string& path, unsigned number) {
  return with_addition(path, fmt::format("-{}", number));
}

std::string give_last_name(const std::string& from, const std::string& path, bool overwrite) {
  if (overwrite) {
    if (std::rename(from.c_str(), path.c_str()) != 0) throw system_error(path, errno);
    return path;
  }
  std::string name = path;
  for (unsigned number = 2;; ++number) {
    const int error = move_to_new_name(from, name);
    if (error == 0) return name;
    if (error != EEXIST) throw system_error(name, error);
    name = numbered_path(path, number);
  }
}

std::string new_unfinished_path(const std::string& path) {
  std::string unfinished = unfinished_path(path);
  std::error_code ignored;  // a problem shows when the file is made
  // A link that leads nowhere takes a name, too.
  const auto is_taken = [&](const std::string& name) {
    return std::filesystem::exists(std::filesystem::symlink_status(name, ignored));
  };
  for (unsigned i = 2; is_taken(unfinished); ++i)
    unfinished = with_addition(path, fmt::format("-{}{}", i, kUnfinished));
  return unfinished;
}

TraceFile::TraceFile(const std::string& path, int gzip_level, NextPath next_path, Naming naming)
    : path_(path),
      packing_(packing_of_name(path)),
      level_(level_for(packing_, gzip_level)),
      next_path_(std::move(next_path)),
      naming_(naming) {
  if (naming_ == Naming::with_text && make_nameless()) return;
  if (const int error = make_hidden(); error != 0) throw system_error(path_, error);
}

// Notes the state of a file that has just been made.
void TraceFile::begin_state() {
  struct stat info {};
  state_ = {};
  if (fstat(file_, &info) == 0) state_.inode = info.st_ino;
}

bool TraceFile::make_nameless() {
  file_ = Descriptor(
      open(traceloom::folder_of(path_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode));
  if (file_ < 0) return false;
  // The file cannot be named later if there is no /proc.
  if (access(descriptor_path(file_).c_str(), F_OK) == 0) {
    begin_state();
    return true;
  }
  file_.close();
  return false;
}

// Returns 0 or an errno.
int TraceFile::make_hidden() {
  constexpr std::size_t kMostOfName = 200;  // leaves room for the number after it
  const std::string name = std::filesystem::path(path_).filename().string();
  if (name.size() > NAME_MAX) return ENAMETOOLONG;
  for (unsigned number = 1;; ++number) {
    hidden_path_ = fmt::format("{}/.{}.{}-{}", traceloom::folder_of(path_).string(),
                               name.substr(0, kMostOfName), getpid(), number);
    file_ = Descriptor(open(hidden_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (file_ >= 0) break;
    if (errno != EEXIST) return errno;
  }
  if (naming_ == Naming::at_end) hidden_entry_.emplace(hidden_path_);
  begin_state();
  return 0;
}

TraceFile::TraceFile(const std::string& path, int gzip_level, const FileState& state)
    : path_(path),
      packing_(packing_of_name(path)),
      level_(level_for(packing_, gzip_level)),
      has_name_(true),
      file_(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
      state_(state) {
  if (file_ < 0) throw system_error(path, errno);
  // Changes nothing before it is known that this is the file that `state` is about.
  struct stat info {};
  if (fstat(file_, &info) != 0) throw system_error(path_, errno);
  check_own_file(path_, info);
  if (info.st_ino != state_.inode) throw Error(path_, "is another file by now");
  const auto bytes = static_cast<off_t>(state_.bytes);
  if (bytes < 0 || info.st_size < bytes)
    throw Error(path_,
                fmt::format("has {} bytes, and {} were written", info.st_size, state_.bytes));
  if (ftruncate(file_, bytes) != 0) throw system_error(path_, errno);
}

TraceFile::~TraceFile() {
  if (!has_name_ && !hidden_path_.empty()) unlink(hidden_path_.c_str());
}

void TraceFile::write(std::string_view text) {
  if (!text.empty()) append(text, Room::but_for_end);
}

void TraceFile::write_last(std::string_view text) {
  append(text, Room::all);
  is_complete_ = true;
}

void TraceFile::append(std::string_view text, Room room) {
  if (is_refused()) throw system_error(path_, refusal_);
  const std::uint64_t text_bytes = state_.text_bytes + text.size();
  if (packing_ != Packing::none) {
    const CompressedBlock block = compress_block(text, level_, packing_);
    const std::uint32_t crc32 = joined_crc32(state_.crc32, block);
    std::string bytes(state_.bytes == 0 ? packed_start(packing_) : ""sv);
    bytes += block.packed;
    if (room == Room::all) bytes += packed_end(packing_, crc32, text_bytes);
    write_bytes(bytes, room);
    if (wants_name()) claim_name(bytes, room);
    state_.crc32 = crc32;
  } else {
    write_bytes(text, room);
    if (wants_name()) claim_name(text, room);
  }
  state_.text_bytes = text_bytes;
}

// `first` is the text in the file.
void TraceFile::claim_name(std::string_view first, Room room) {
  // Otherwise a folder that cannot be read would be asked for ever.
  constexpr int kMostTries = 1000;
  refusal_ = try_name(first, room);
  for (int i = 0; refusal_ == EEXIST && next_path_ && i < kMostTries; ++i) {
    path_ = next_path_({0, 0, 0, state_.inode});
    refusal_ = try_name(first, room);
  }
  has_name_ = !is_refused();
  if (is_refused()) throw system_error(path_, refusal_);
}

// Returns 0 or an errno. It is atomic, like all functions here that give names: if two sessions
// want one name, one gets it.
int TraceFile::try_name(std::string_view first, Room room) {
  if (hidden_path_.empty()) {
    if (linkat(AT_FDCWD, descriptor_path(file_).c_str(), AT_FDCWD, path_.c_str(),
               AT_SYMLINK_FOLLOW) == 0)
      return 0;
    if (errno == EEXIST || errno == ENAMETOOLONG) return errno;
    // Some file systems make nameless files and cannot name them.
    file_.close();
    if (const int error = make_hidden(); error != 0) return error;
    taken_room_ = 0;
    write_bytes(first, room);
  }
  return move_to_new_name(hidden_path_, path_);
}

// Takes room for `bytes` and for the end of the file after them, before anything is written. If the
// file system cannot do that, a write fails once there is no room.
void TraceFile::take_room(std::size_t bytes) {
  const std::uint64_t end = state_.bytes + bytes + kEndBytes;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
    throw system_error(path_, EFBIG);
  if (!can_take_room_ || end <= taken_room_) return;
  const std::uint64_t begin = std::max(taken_room_, state_.bytes);
  int result = 0;
  do {
    result = fallocate(file_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                       static_cast<off_t>(end - begin));
  } while (result != 0 && errno == EINTR);
  if (result == 0)
    taken_room_ = end;
  else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
    throw system_error(path_, errno);
  else
    can_take_room_ = false;
}

void TraceFile::cut_back(const FileState& state) {
  if (ftruncate(file_, static_cast<off_t>(state.bytes)) != 0) throw system_error(path_, errno);
  state_ = state;
  is_complete_ = false;
  taken_room_ = state.bytes;
}

void TraceFile::write_bytes(std::string_view bytes, Room room) {
  if (room == Room::but_for_end) take_room(bytes.size());
  try {
    write_at(file_, path_, state_.bytes, bytes);
  } catch (const Error&) {
    // A full disk takes a part first, and then nothing: half an event must not stay.
    [[maybe_unused]] const int ignored = ftruncate(file_, static_cast<off_t>(state_.bytes));
    taken_room_ = state_.bytes;
    throw;
  }
  state_.bytes += bytes.size();
}

std::string TraceFile::finish(const std::string& path, bool overwrite) {
  if (state_.text_bytes == 0 && !has_name_) return "";
  if (packing_ != Packing::none && !is_complete_)
    write_bytes(packed_end(packing_, state_.crc32, state_.text_bytes), Room::all);
  // Gives back the room that was taken for the end and not used; if that fails, a page is wasted.
  if (taken_room_ > state_.bytes) {
    [[maybe_unused]] const int ignored = ftruncate(file_, static_cast<off_t>(state_.bytes));
  }
  if (!file_.close()) throw system_error(path_, errno);
  if (has_name_) return give_last_name(path_, path, overwrite);
  std::string name = give_last_name(hidden_path_, path, overwrite);
  has_name_ = true;
  return name;
}

}  // namespace traceloom::record
