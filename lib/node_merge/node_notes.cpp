#include "node_merge/node_notes.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "record/support/process_support.h"
#include "team/wire.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNote = ".note";
constexpr std::string_view kKept = ".kept";  // a folder, so that the trace may keep its name
constexpr std::string_view kLock = ".lock";
constexpr mode_t kMode = 0666;

// Returns the local rank in "cycle3-rank1.note" or "rank1.lock".
std::optional<std::int64_t> rank_of(std::string_view name, std::string_view ending) {
  constexpr std::string_view kRank = "rank";
  const std::size_t at = name.rfind(kRank);
  if (!name.ends_with(ending) || at == std::string_view::npos) return std::nullopt;
  name.remove_suffix(ending.size());
  return whole_number<std::int64_t>(name.substr(at + kRank.size()));
}

// The locks that this process holds. They are never destroyed: a merger may be closed when the
// process exits.
struct HeldLocks {
  std::mutex mutex;
  std::set<FileOfProcess> files;
};
HeldLocks& held_locks() {
  static HeldLocks& held = *new HeldLocks;
  return held;
}

std::optional<FileOfProcess> file_at(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileOfProcess{getpid(), info.st_dev, info.st_ino};
}

}  // namespace

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

TraceNote note_of(std::uint64_t cycle, std::int64_t rank, const std::string& path) {
  TraceNote note{.cycle = cycle, .rank = rank};
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0) return note;
  note.path = path;
  note.bytes = static_cast<std::uint64_t>(info.st_size);
  note.inode = info.st_ino;
  return note;
}

bool is_there(const TraceNote& note) {
  const TraceNote now = note_of(note.cycle, note.rank, note.source());
  return !now.path.empty() && now.bytes == note.bytes && now.inode == note.inode;
}

NodeNotes::NodeNotes(const std::string& traces, std::int64_t node_rank, std::int64_t local_rank)
    : traces_(traces),
      folder_(fmt::format("{}/.node{}-merge", traces, node_rank)),
      local_rank_(local_rank) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw system_error(folder_, error.value());
  take_lock();
  remove_stale();
}

// Takes the lock. It belongs to the process and not to the open file, so that a child of fork()
// does not hold it. So this process could take it a second time, and would lose it when one of the
// two files is closed; held_locks() prevents that.
void NodeNotes::take_lock() {
  const std::string path = lock_path(local_rank_);
  const std::lock_guard guard(held_locks().mutex);
  if (const std::optional<FileOfProcess> file = file_at(path);
      file && held_locks().files.contains(*file))
    throw Error(path, fmt::format("this process is local rank {} here already", local_rank_));
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (lock < 0) throw system_error(path, errno);
  if (!record::lock_for_process(lock, path))
    throw Error(path, fmt::format("another process is local rank {} here", local_rank_));
  lock_ = std::move(lock);
  held_ = file_at(path);
  if (held_) held_locks().files.insert(*held_);
}

NodeNotes::~NodeNotes() {
  leave();
}

// Removes the notes of a run that was killed: they would be mistaken for notes of this run.
void NodeNotes::remove_stale() const {
  for (const std::string& name : names_in(folder_)) {
    std::optional<std::int64_t> rank = rank_of(name, kNote);
    if (!rank) rank = rank_of(name, kKept);
    if (!rank || (*rank != local_rank_ && (local_rank_ != 0 || is_at_work(*rank)))) continue;
    std::error_code ignored;  // it may be gone meanwhile
    fs::remove_all(fs::path(folder_) / name, ignored);
  }
}

std::string NodeNotes::path_of(std::uint64_t cycle, std::int64_t local_rank) const {
  return fmt::format("{}/cycle{}-rank{}{}", folder_, cycle, local_rank, kNote);
}

std::string NodeNotes::kept_folder(std::uint64_t cycle, std::int64_t local_rank) const {
  return fmt::format("{}/cycle{}-rank{}{}", folder_, cycle, local_rank, kKept);
}

std::string NodeNotes::lock_path(std::int64_t local_rank) const {
  return fmt::format("{}/rank{}{}", folder_, local_rank, kLock);
}

TraceNote NodeNotes::keep(TraceNote note, const std::string& name) const {
  if (note.path.empty()) return note;
  const fs::path folder = kept_folder(note.cycle, local_rank_);
  note.kept = folder / (name.empty() ? fs::path(note.path).filename() : fs::path(name));
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::create_hard_link(note.path, note.kept, error);
  if (error) fs::copy_file(note.path, note.kept, error);
  if (error) throw system_error(note.kept, error.value());
  const TraceNote kept = note_of(note.cycle, note.rank, note.kept);
  note.bytes = kept.bytes;
  note.inode = kept.inode;
  return note;
}

// Returns the path relative to the traces: the first rank may know their folder by another name.
std::string NodeNotes::relative(const std::string& path) const {
  if (path.empty()) return "";
  const std::string inside = fs::path(path).lexically_relative(traces_).string();
  return inside.empty() || inside.starts_with("..") ? fs::absolute(path).string() : inside;
}

void NodeNotes::write(const TraceNote& note) const {
  TraceNote told = note;
  told.path = relative(note.path);
  told.kept = relative(note.kept);
  const std::string name = path_of(note.cycle, local_rank_);
  const std::string unfinished = name + ".tmp";
  std::ofstream out(unfinished, std::ios::binary);
  out << to_wire(told);
  out.close();
  if (!out || std::rename(unfinished.c_str(), name.c_str()) != 0) throw system_error(name, errno);
}

std::optional<TraceNote> NodeNotes::read(std::uint64_t cycle, std::int64_t local_rank) const {
  std::ifstream in(path_of(cycle, local_rank), std::ios::binary);
  if (!in) return std::nullopt;
  try {
    auto note = from_wire<TraceNote>(std::string(std::istreambuf_iterator(in), {}));
    if (!note.path.empty()) note.path = fs::path(traces_) / note.path;
    if (!note.kept.empty()) note.kept = fs::path(traces_) / note.kept;
    return note;
  } catch (const Error&) {
    return std::nullopt;  // not one of ours
  }
}

void NodeNotes::remove(std::uint64_t cycle, std::int64_t local_rank) const {
  std::error_code ignored;  // the next run removes them
  fs::remove(path_of(cycle, local_rank), ignored);
  fs::remove_all(kept_folder(cycle, local_rank), ignored);
}

bool NodeNotes::is_at_work(std::int64_t local_rank) const {
  // Closing a file of our own lock would release the lock.
  if (local_rank == local_rank_) return lock_ >= 0;
  const Descriptor file(open(lock_path(local_rank).c_str(), O_RDWR | O_CLOEXEC));
  if (file < 0) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void NodeNotes::leave() {
  if (lock_ < 0) return;
  {
    const std::lock_guard guard(held_locks().mutex);
    // This comes first: if two leave at once, at least one sees that the other has left.
    lock_.close();
    if (held_) held_locks().files.erase(*held_);
  }
  std::vector<std::int64_t> ranks;
  for (const std::string& name : names_in(folder_)) {
    const std::optional<std::int64_t> rank = rank_of(name, kLock);
    // A rank is at work, or there is a note that the first rank has not read.
    if (!rank || is_at_work(*rank)) return;
    ranks.push_back(*rank);
  }
  std::error_code ignored;  // another rank does the same
  for (const std::int64_t rank : ranks) fs::remove(lock_path(rank), ignored);
  fs::remove(folder_, ignored);
}

}  // namespace traceloom
