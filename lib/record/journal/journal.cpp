#include "record/journal/journal.h"

#include "base/problems.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace traceloom::record {
namespace {

constexpr mode_t kJournalMode = 0600;

void append_text(std::string& out, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

template <std::size_t kSize>
void set_text(std::array<char, kSize>& to, const std::string& text) {
  to.fill(0);
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), to.data());
}

}  // namespace

Journal::Journal(const traceloom_options& options, const ClockPair& start) {
  constexpr std::size_t kMost = JournalLayout::kMaxChunks;
  const std::size_t head = JournalLayout::head_bytes();
  const auto chunks = std::clamp<std::size_t>(options.pool_bytes / detail::kChunkBytes, 1, kMost);
  max_chunks_ =
      std::clamp<std::size_t>(options.max_pool_bytes / detail::kChunkBytes, chunks, kMost);
  open_new(options);
  // Room is taken before a page is used: one that is missing would raise a signal in the middle of
  // training.
  int failure = posix_fallocate(file_, 0, static_cast<off_t>(head + chunks * detail::kChunkBytes));
  void* memory = MAP_FAILED;
  if (failure == 0) {
    memory = mmap(nullptr, head + chunk_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) failure = errno;
  }
  if (failure != 0) {
    unlink(path_.c_str());
    throw system_error(path_, failure);
  }
  layout_ = new (memory) JournalLayout;
  chunks_ = static_cast<std::byte*>(memory) + head;
  layout_->chunk_offset = head;
  layout_->chunk_count = chunks;
  layout_->rank = options.rank;
  layout_->gzip_level = options.gzip_level;
  set_text(layout_->boot_id, boot_id());
  layout_->is_tsc = detail::clock_is_tsc.load(std::memory_order_relaxed) ? 1 : 0;
  layout_->start = start;
  layout_->magic.store(JournalLayout::kMagic, std::memory_order_release);
}

Journal::~Journal() {
  if (layout_ != nullptr) munmap(layout_, JournalLayout::head_bytes());
}

// Makes a new file and never takes one that is there: in containers that share a folder, processes
// have the same numbers.
void Journal::open_new(const traceloom_options& options) {
  const std::string stem = std::string(options.journal_folder) + "/traceloom-rank" +
                           std::to_string(options.rank) + "-" + std::to_string(getpid());
  path_ = stem + ".journal";
  for (unsigned number = 2;; ++number) {
    file_ = Descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kJournalMode));
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
    throw;
  }
  file_.close();
  return false;
}

bool lock_journal(int file, const std::string& path) {
  if (!lock_for_process(file, path)) return false;
  struct stat info {};
  return fstat(file, &info) == 0 && info.st_ino == inode_of(path);
}

bool Journal::grow(std::size_t chunks) {
  const std::uint64_t count = layout_->chunk_count.load(std::memory_order_relaxed);
  if (chunks <= count) return true;
  const std::size_t end = JournalLayout::head_bytes() + count * detail::kChunkBytes;
  rlimit limit{};  // to exceed it would raise a signal
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end + detail::kChunkBytes > limit.rlim_cur)
    return false;
  if (posix_fallocate(file_, static_cast<off_t>(end), detail::kChunkBytes) != 0) return false;
  layout_->chunk_count.store(count + 1, std::memory_order_release);
  return true;
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

namespace {

constexpr std::size_t kMagicBytes = sizeof(std::uint64_t);
// The length of "TLJRNL"; two digits follow it.
constexpr std::size_t kNameOfMagic = 6;

template <std::size_t kSize>
std::string text_of(const std::array<char, kSize>& text) {
  return {text.data(), strnlen(text.data(), kSize)};
}

std::string_view bytes_of(const std::uint64_t& magic) {
  return {reinterpret_cast<const char*>(&magic), sizeof magic};
}

void check_magic(const std::string& path, std::uint64_t magic) {
  const std::uint64_t ours = JournalLayout::kMagic;
  if (magic == ours) return;
  if (bytes_of(magic).substr(0, kNameOfMagic) != bytes_of(ours).substr(0, kNameOfMagic))
    refuse(path, "is no journal, or a damaged one");
  throw Error(path,
              "was written by another version of the recorder; it stays as it is: recover "
              "it with that version");
}

}  // namespace

void refuse(const std::string& path, const std::string& why) {
  throw Error(path, why + "; it stays as it is");
}

DeadJournal::DeadJournal(const std::string& path) : path_(path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return;
    throw system_error(path, errno);
  }
  // The file is looked at before it is opened: opening a pipe or a device may do something.
  check_own_file(path, info);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw ForeignFile(path,
                      "can be written to by other users, so that what it says is not believed");
  file_ = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file_ < 0 && errno != ENOENT) throw system_error(path, errno);
  struct stat opened {};
  if (file_ < 0) return;
  if (fstat(file_, &opened) == 0 && opened.st_ino == info.st_ino && opened.st_dev == info.st_dev)
    return;
  file_.close();  // another file has that name by now
}

DeadJournal::~DeadJournal() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

void DeadJournal::map() {
  struct stat info {};
  if (fstat(file_, &info) != 0) throw system_error(path_, errno);
  bytes_ = static_cast<std::size_t>(info.st_size);
  if (memory_ != nullptr || bytes_ == 0) return;
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
  if (memory == MAP_FAILED) throw system_error(path_, errno);
  memory_ = static_cast<std::byte*>(memory);
}

// The magic is written last, and before anything is recorded, so a journal without it is blank.
bool DeadJournal::is_blank() {
  map();
  const auto is_zero = [&](std::size_t from, std::size_t to) {
    return std::all_of(memory_ + from, memory_ + to,
                       [](std::byte byte) { return byte == std::byte{}; });
  };
  if (bytes_ < sizeof(JournalLayout)) return is_zero(0, bytes_);
  const JournalLayout& journal = layout();
  return journal.magic.load() == 0 && journal.commit_number.load() == 0 &&
         journal.label_bytes.load() == 0 && journal.segment_count.load() == 0 &&
         is_zero(sizeof(JournalLayout), bytes_);
}

void DeadJournal::check() {
  map();
  if (bytes_ < kMagicBytes) refuse(path_, "is no journal");
  std::uint64_t magic = 0;
  std::memcpy(&magic, memory_, kMagicBytes);
  check_magic(path_, magic);
  const std::size_t least = JournalLayout::head_bytes() + detail::kChunkBytes;
  if (bytes_ < least)
    refuse(path_,
           fmt::format("is cut: a journal has {} bytes or more, and this one {}", least, bytes_));
  const JournalLayout& journal = layout();
  const std::uint64_t count = journal.chunk_count;
  if (journal.chunk_offset != JournalLayout::head_bytes() || count == 0 ||
      count > JournalLayout::kMaxChunks)
    refuse(path_, "is damaged: where its events lie cannot be");
  const std::size_t whole = JournalLayout::head_bytes() + count * detail::kChunkBytes;
  // A process may die between the growth of the file and that of the count.
  if (bytes_ != whole && bytes_ != whole + detail::kChunkBytes)
    refuse(path_, fmt::format("is damaged: it has {} bytes and should have {}", bytes_, whole));
  check_counts();
}

// Refuses numbers that the recorder never writes. If they were believed, or cut to what is
// possible, the journal would be deleted with events in it that nobody has seen.
void DeadJournal::check_counts() const {
  if (commit().progress_count > JournalLayout::kMaxChunks ||
      layout().label_bytes.load() > JournalLayout::kLabelBytes)
    refuse(path_, "is damaged: it says that it has more than fits in");
  for (std::size_t i = 0; i < layout().chunk_count; ++i) {
    const detail::ChunkHeader& header = chunk(i);
    const std::uint32_t state = header.state.load();
    if (state == kFreeChunk) continue;
    const std::uint32_t committed = header.committed.load();
    const std::uint32_t written = written_of(header);
    if (state > kFullChunk || committed > detail::kChunkSlots)
      refuse(path_, fmt::format("is damaged: its block {} of events has {} of {}, in state {}", i,
                                committed, detail::kChunkSlots, state));
    if (written > committed)
      refuse(path_,
             fmt::format("is damaged: of the {} events of its block {} it says that {} are in the "
                         "trace",
                         committed, i, written));
  }
}

std::uint32_t DeadJournal::written_of(const detail::ChunkHeader& chunk) const {
  std::uint32_t written = chunk.written.load();
  for (std::size_t i = 0; i < commit().progress_count; ++i)
    if (commit().progress[i].sequence == chunk.sequence)
      written = std::max(written, commit().progress[i].written);
  return written;
}

std::string DeadJournal::trace_path() const {
  return text_of(commit().path);
}

std::string DeadJournal::boot_id() const {
  return text_of(layout().boot_id);
}

detail::ChunkHeader& DeadJournal::chunk(std::size_t index) const {
  return *reinterpret_cast<detail::ChunkHeader*>(memory_ + JournalLayout::head_bytes() +
                                                 index * detail::kChunkBytes);
}

}  // namespace traceloom::record
