#include "node_merge/node_files.h"

#include "base/problems.h"
#include "merge/merger.h"
#include "output/file_sink.h"
#include "record/files/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
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
  std::int64_t rank = 0;
  const char* const end = name.data() + name.size() - ending.size();
  const auto [stop, error] = std::from_chars(name.data() + at + kRank.size(), end, rank);
  return error == std::errc{} && stop == end ? std::optional(rank) : std::nullopt;
}

// Returns the names in a folder; a folder that cannot be read has none.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

// The locks that this process holds.
struct HeldLocks {
  std::mutex mutex;
  std::set<FileOfProcess> files;
};

// Never destroyed: a merger may be closed when the process exits.
HeldLocks& held_locks() {
  static HeldLocks& held = *new HeldLocks;
  return held;
}

std::optional<FileOfProcess> file_at(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileOfProcess{getpid(), info.st_dev, info.st_ino};
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return lock;
}

}  // namespace

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
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (lock_ < 0) throw system_error(path, errno);
  struct flock lock = whole_file();
  if (fcntl(lock_, F_SETLK, &lock) != 0) {
    const int reason = errno;
    close(lock_);
    if (reason != EAGAIN && reason != EACCES) throw system_error(path, reason);
    throw Error(path, fmt::format("another process is local rank {} here", local_rank_));
  }
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

std::string NodeNotes::kept_path(const TraceNote& note, std::int64_t local_rank,
                                 KeptName name) const {
  const std::string folder = kept_folder(note.cycle, local_rank);
  return name == KeptName::own
             ? fmt::format("{}/{}", folder, fs::path(note.path).filename().string())
             : fmt::format("{}/cycle{}-rank{}.json", folder, note.cycle, note.rank);
}

std::string NodeNotes::lock_path(std::int64_t local_rank) const {
  return fmt::format("{}/rank{}{}", folder_, local_rank, kLock);
}

TraceNote NodeNotes::keep(TraceNote note, KeptName name) const {
  if (note.path.empty()) return note;
  note.kept = kept_path(note, local_rank_, name);
  std::error_code error;
  fs::create_directories(fs::path(note.kept).parent_path(), error);
  if (!error) fs::create_hard_link(note.path, note.kept, error);
  if (error) fs::copy_file(note.path, note.kept, error);
  if (error) throw system_error(note.kept, error.value());
  const TraceNote kept = note_of(note.cycle, note.rank, note.kept);
  note.bytes = kept.bytes;
  note.inode = kept.inode;
  return note;
}

// Writes the path relative to the traces: the first rank may know their folder by another name.
void NodeNotes::write(const TraceNote& note) const {
  std::string path;
  if (!note.path.empty()) {
    path = fs::path(note.path).lexically_relative(traces_).string();
    if (path.empty() || path.starts_with("..")) path = fs::absolute(note.path).string();
  }
  const std::string name = path_of(note.cycle, local_rank_);
  const std::string unfinished = name + ".tmp";
  std::ofstream out(unfinished, std::ios::binary);
  const int kept_as = note.kept.empty()                                          ? 0
                      : note.kept == kept_path(note, local_rank_, KeptName::own) ? 1
                                                                                 : 2;
  out << fmt::format("{} {} {} {} {}", note.rank, note.bytes, note.inode, kept_as, path);
  out.close();
  if (!out || std::rename(unfinished.c_str(), name.c_str()) != 0) throw system_error(name, errno);
}

std::optional<TraceNote> NodeNotes::read(std::uint64_t cycle, std::int64_t local_rank) const {
  std::ifstream in(path_of(cycle, local_rank), std::ios::binary);
  TraceNote note{.cycle = cycle};
  int kept_as = 0;
  if (!(in >> note.rank >> note.bytes >> note.inode >> kept_as)) return std::nullopt;
  std::ostringstream rest;
  in.get();  // the blank before the path
  if (in.peek() != std::ifstream::traits_type::eof()) rest << in.rdbuf();
  if (!rest.str().empty()) note.path = (fs::path(traces_) / rest.str()).string();
  if (kept_as != 0)
    note.kept = kept_path(note, local_rank, kept_as == 1 ? KeptName::own : KeptName::of_cycle);
  return note;
}

void NodeNotes::remove(std::uint64_t cycle, std::int64_t local_rank) const {
  std::error_code ignored;  // the next run removes them
  fs::remove(path_of(cycle, local_rank), ignored);
  fs::remove_all(kept_folder(cycle, local_rank), ignored);
}

bool NodeNotes::is_at_work(std::int64_t local_rank) const {
  // Closing a file of our own lock would release the lock.
  if (local_rank == local_rank_) return lock_ >= 0;
  const int file = open(lock_path(local_rank).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct flock lock = whole_file();
  const bool is_held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  return is_held;
}

void NodeNotes::leave() {
  if (lock_ < 0) return;
  {
    const std::lock_guard guard(held_locks().mutex);
    close(lock_);  // comes first: if two leave at once, at least one sees that the other has left
    lock_ = -1;
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

namespace {

namespace fs = std::filesystem;

// Returns the name that a file has while it is written. It ends like the final name, which shows
// how the file is packed and may be as long as a name can be.
std::string hidden_path(const fs::path& path) {
  constexpr std::size_t kMostOfName = 200;
  const std::string name = path.filename().string();
  return path.parent_path() /
         fmt::format(".{}-{}", getpid(),
                     name.substr(name.size() - std::min(name.size(), kMostOfName)));
}

}  // namespace

std::optional<NodeTrace::File> NodeTrace::file_at(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return File{path, info.st_dev, info.st_ino, info.st_size};
}

// Removes the hidden files of killed processes: "..4711-node0.json.traceloom-4711.tmp", which its
// process has locked while it writes the merge, and ".4711-node0.json", which the merge is called
// for a moment before it gets its name.
void NodeTrace::remove_abandoned(const fs::path& folder) const {
  constexpr std::chrono::minutes kMoment{1};
  for (const std::string& name : names_in(folder)) {
    std::string_view hidden = name;
    const bool is_written = hidden.starts_with("..") && hidden.ends_with(".tmp");
    if (is_written) hidden = hidden.substr(1, hidden.rfind(".traceloom-") - 1);
    const std::size_t dash = hidden.find_first_not_of("0123456789", 1);
    if (!hidden.starts_with('.') || dash == std::string_view::npos || dash < 2) continue;
    const fs::path merged = folder / hidden.substr(dash + 1);
    if (hidden[dash] != '-' || settings_.path.owner_of(merged.native(), settings_.run) !=
                                   record::NameTemplate::Owner::this_rank)
      continue;
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(folder / name, error);
    if (is_written || (!error && fs::file_time_type::clock::now() - time > kMoment))
      remove_if_abandoned((folder / name).string());
  }
}

NodeTrace::Merged NodeTrace::add(const record::Position& at, const std::vector<Part>& parts) {
  const std::string path = settings_.path.expand(settings_.run, at);
  Merged merged;
  MergeOptions options;
  const bool goes_on = last_ && file_at(last_->path) == last_;
  if (goes_on)
    options.inputs.push_back({last_->path, std::nullopt});
  else if (last_)
    merged.problem = fmt::format(
        "{} is not there as it was merged last; what it held of earlier cycles is not in this one",
        last_->path);
  std::error_code ignored;  // a problem shows when the file is made
  fs::create_directories(fs::path(path).parent_path(), ignored);
  remove_abandoned(fs::path(path).parent_path());
  for (const Part& part : parts) {
    options.inputs.push_back({part.source, std::nullopt});
    options.known_as[part.source] = part.path;
  }
  options.output = hidden_path(path);
  options.threads = settings_.threads;
  if (packing_of_name(path) == Packing::gzip) options.level = settings_.gzip_level;
  options.format = format_of_name(path);
  try {
    merged.events = merge_traces(options).events;
    merged.path = goes_on ? record::give_last_name(options.output, last_->path, true)
                          : record::give_last_name(options.output, path, settings_.overwrite);
  } catch (...) {
    fs::remove(options.output, ignored);
    throw;
  }
  if (grows()) last_ = file_at(merged.path);
  return merged;
}

}  // namespace traceloom
