#include "record/journal/journal.h"

#include "base/error.h"
#include "record/buffers/clock_sync.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom::record {
namespace {

constexpr mode_t kJournalMode = 0600;

void append_text(std::string& out, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  if (text.size() < sizeof number) {
    text = {};
    return 0;
  }
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return number;
}

std::string take_text(std::string_view& text) {
  const std::uint32_t size = take_number(text);
  std::string taken(text.substr(0, size));
  text.remove_prefix(taken.size());
  return taken;
}

template <std::size_t kSize>
void set_text(std::array<char, kSize>& to, const std::string& text) {
  to.fill(0);
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), to.data());
}

}  // namespace

Journal::Journal(const JournalSettings& settings) {
  chunk_count_ = std::clamp<std::size_t>(settings.pool_bytes / detail::kChunkBytes, 1,
                                         JournalLayout::kMaxChunks);
  const std::size_t head = JournalLayout::head_bytes();
  const std::size_t bytes = head + chunk_bytes();
  open_new(settings);
  // Room is taken now: a page that is missing later would raise a signal in the middle of training.
  int failure = posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (failure == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) failure = errno;
  }
  if (failure != 0) {
    unlink(path_.c_str());
    close(file_);
    throw system_error(path_, failure);
  }
  layout_ = new (memory) JournalLayout;
  chunks_ = static_cast<std::byte*>(memory) + head;
  layout_->bytes = bytes;
  layout_->chunk_offset = head;
  layout_->chunk_count = chunk_count_;
  layout_->rank = settings.rank;
  layout_->gzip_level = settings.gzip_level;
  set_text(layout_->boot_id, boot_id());
  layout_->is_tsc = detail::clock_is_tsc.load(std::memory_order_relaxed) ? 1 : 0;
  layout_->start = settings.start;
  layout_->magic.store(JournalLayout::kMagic, std::memory_order_release);
}

Journal::~Journal() {
  if (layout_ != nullptr) munmap(layout_, JournalLayout::head_bytes());
  if (file_ >= 0) close(file_);
}

// Makes a new file and never takes one that is there: in containers that share a folder, processes
// have the same numbers.
void Journal::open_new(const JournalSettings& settings) {
  const std::string stem = settings.folder + "/traceloom-rank" + std::to_string(settings.rank) +
                           "-" + std::to_string(getpid());
  path_ = stem + ".journal";
  for (unsigned number = 2;; ++number) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kJournalMode);
    if (file_ < 0 && errno != EEXIST) throw system_error(path_, errno);
    if (file_ >= 0 && lock_new()) return;
    path_ = stem + "-" + std::to_string(number) + ".journal";
  }
}

// Returns false if a recovery found the file before it was locked and took it for a dead process's:
// the recovery deletes it.
bool Journal::lock_new() {
  try {
    if (lock_journal(file_, path_)) return true;
  } catch (...) {
    unlink(path_.c_str());
    close(std::exchange(file_, -1));
    throw;
  }
  close(std::exchange(file_, -1));
  return false;
}

bool lock_journal(int file, const std::string& path) {
  // The process owns the lock, not the open file: a child of fork() does not keep it alive.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(file, F_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    throw system_error(path, errno);
  }
  struct stat info {};
  return fstat(file, &info) == 0 && info.st_ino == inode_of(path);
}

void Journal::add_label(const Label& label) {
  std::string text;
  const std::uint32_t id = static_cast<const EventLabel&>(label).id;
  text.append(reinterpret_cast<const char*>(&id), sizeof id);
  append_text(text, label.name);
  append_text(text, label.categories);
  const auto keys = static_cast<std::uint32_t>(label.key_names.size());
  text.append(reinterpret_cast<const char*>(&keys), sizeof keys);
  for (const std::string& key : label.key_names) append_text(text, key);
  const std::uint64_t used = layout_->label_bytes.load(std::memory_order_relaxed);
  if (used + text.size() > JournalLayout::kLabelBytes) {  // a recovery will call it by its number
    layout_->labels_without_room.fetch_add(1);
    return;
  }
  std::memcpy(layout_->labels.data() + used, text.data(), text.size());
  layout_->label_bytes.store(used + text.size(), std::memory_order_release);
}

std::vector<JournalLabel> read_labels(std::string_view text) {
  std::vector<JournalLabel> labels;
  while (!text.empty()) {
    JournalLabel label;
    label.id = take_number(text);
    label.name = take_text(text);
    label.categories = take_text(text);
    std::uint32_t keys = take_number(text);
    if (keys > kMostKeys) break;  // damaged: what follows is no label, either
    for (; keys > 0 && !text.empty(); --keys) label.keys.push_back(take_text(text));
    labels.push_back(std::move(label));
  }
  return labels;
}

void Journal::add_segment(const TimeLine::Segment& segment) {
  const std::uint64_t count = layout_->segment_count.load(std::memory_order_relaxed);
  layout_->segments[count % JournalLayout::kSegments] = segment;
  layout_->segment_count.store(count + 1, std::memory_order_release);
}

void Journal::commit(const FileState& state, const std::vector<Written>& written,
                     const JournalLayout::CycleCounts& counts) {
  const std::uint64_t number = layout_->commit_number.load(std::memory_order_relaxed) + 1;
  JournalLayout::Commit& commit = layout_->commits[number % 2];
  commit.state = state;
  commit.begin_ticks = begin_ticks_;
  commit.counts = counts;
  set_text(commit.path, trace_path_);
  std::size_t count = 0;
  for (const Written& each : written) {
    const auto* at = reinterpret_cast<const std::byte*>(each.chunk);
    // A chunk of an earlier session that a thread still fills does not belong to this journal.
    if (at < chunks_ || at >= chunks_ + chunk_bytes() || count == commit.progress.size()) continue;
    const auto index = static_cast<std::uint32_t>((at - chunks_) / detail::kChunkBytes);
    commit.progress[count++] = {each.chunk->sequence, index, each.written};
  }
  commit.progress_count = count;
  layout_->commit_number.store(number, std::memory_order_release);
  for (const Written& each : written)
    each.chunk->written.store(each.written, std::memory_order_release);
}

void Journal::commit_file(const std::string& path, std::uint64_t begin_ticks,
                          const FileState& state) {
  // The path is absolute, because a recovery may run in another folder.
  std::error_code ignored;  // then the path stays as it was given
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  trace_path_ = ignored ? path : whole.lexically_normal().string();
  begin_ticks_ = begin_ticks;
  commit(state, {});
}

void Journal::remove() {
  unlink(path_.c_str());
}

void Journal::forget() {
  close(file_);
  file_ = -1;
}

}  // namespace traceloom::record
