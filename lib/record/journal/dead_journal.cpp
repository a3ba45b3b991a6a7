#include "record/journal/dead_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace traceloom::record {
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
    throw Error(path, "is no journal, or a damaged one; it stays as it is");
  throw Error(path,
              "was written by another version of the recorder; it stays as it is: recover "
              "it with that version");
}

}  // namespace

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
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file_ < 0 && errno != ENOENT) throw system_error(path, errno);
  struct stat opened {};
  if (file_ < 0) return;
  if (fstat(file_, &opened) == 0 && opened.st_ino == info.st_ino && opened.st_dev == info.st_dev)
    return;
  close(file_);  // another file has that name by now
  file_ = -1;
}

DeadJournal::~DeadJournal() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (file_ >= 0) close(file_);
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
  if (bytes_ < kMagicBytes) throw Error(path_, "is no journal; it stays as it is");
  std::uint64_t magic = 0;
  std::memcpy(&magic, memory_, kMagicBytes);
  check_magic(path_, magic);
  const std::size_t least = JournalLayout::head_bytes() + detail::kChunkBytes;
  if (bytes_ < least)
    throw Error(path_, fmt::format("is cut: a journal has {} bytes or more, and this one {}; it "
                                   "stays as it is",
                                   least, bytes_));
  const JournalLayout& journal = layout();
  const std::uint64_t count = journal.chunk_count;
  if (journal.chunk_offset != JournalLayout::head_bytes() || count == 0 ||
      count > JournalLayout::kMaxChunks)
    throw Error(path_, "is damaged: where its events lie cannot be; it stays as it is");
  const std::size_t whole = JournalLayout::head_bytes() + count * detail::kChunkBytes;
  if (journal.bytes != whole || bytes_ != whole)
    throw Error(path_, fmt::format("is damaged: it has {} bytes and should have {}; it stays as it "
                                   "is",
                                   bytes_, whole));
  check_counts();
}

// Refuses numbers that the recorder never writes. If they were believed, or cut to what is
// possible, the journal would be deleted with events in it that nobody has seen.
void DeadJournal::check_counts() const {
  const JournalLayout::Commit& now = commit();
  if (now.progress_count > JournalLayout::kMaxChunks ||
      layout().label_bytes.load() > JournalLayout::kLabelBytes)
    throw Error(path_, "is damaged: it says that it has more than fits in; it stays as it is");
  for (std::size_t i = 0; i < layout().chunk_count; ++i) {
    const detail::ChunkHeader& header = chunk(i);
    const std::uint32_t state = header.state.load();
    if (state == kFreeChunk) continue;
    const std::uint32_t committed = header.committed.load();
    std::uint32_t written = header.written.load();
    for (std::size_t k = 0; k < now.progress_count; ++k)
      if (now.progress[k].sequence == header.sequence)
        written = std::max(written, now.progress[k].written);
    if (state > kFullChunk || committed > detail::kChunkSlots)
      throw Error(path_, fmt::format("is damaged: its block {} of events has {} of {}, in state "
                                     "{}; it stays as it is",
                                     i, committed, detail::kChunkSlots, state));
    if (written > committed)
      throw Error(path_, fmt::format("is damaged: of the {} events of its block {} it says that "
                                     "{} are in the trace; it stays as it is",
                                     committed, i, written));
  }
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
