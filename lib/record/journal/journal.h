// The journal: the pool as a file in shared memory, while its process lives and after it has
// died.
#pragma once

#include "base/file_system.h"
#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/buffers/registry.h"
#include "record/files/trace_file.h"
#include "record/session.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::record {

// Journal: the pool as a file in shared memory, with what is needed to write a trace of it after
// the process has died.
//
//   Journal journal(options, pair);
//   pool.open({.memory = journal.chunks(), .has_memory = [&](auto n) { return journal.grow(n); }});
//   journal.commit(file, {{chunk, 120}});     // these slots are in the file now
//   journal.remove();                         // all is written
//
// The memory of a shared mapping belongs to the system: it survives SIGKILL without anybody's help,
// but not a restart of the machine. The file is locked as long as its process lives.

// The layout of the file; only processes of one machine and one version read it.
struct JournalLayout {
  static constexpr std::uint64_t kMagic = 0x35304c4e524a4c54;  // "TLJRNL05"
  static constexpr std::size_t kMaxChunks = 4096;
  static constexpr std::size_t kLabelBytes = std::size_t{1} << 20;
  static constexpr std::size_t kSegments = 64;

  // The number of slots of a chunk that are in the trace file. The sequence says whether it still
  // is the same chunk.
  struct Progress {
    std::uint64_t sequence = 0;
    std::uint32_t chunk = 0;
    std::uint32_t written = 0;
  };
  // Events of the cycle until the commit.
  struct CycleCounts {
    std::uint64_t written = 0;
    std::uint64_t lost = 0;  // the file could not be written
    std::uint64_t dropped = 0;
  };
  // The trace file, and which slots of the chunks are in it. There are two commits, and one of them
  // is valid.
  struct Commit {
    FileState state;
    std::uint64_t begin_ticks = 0;  // begin of the cycle
    CycleCounts counts;
    std::uint64_t progress_count = 0;
    std::array<char, 4096> path{};  // path of the file, or of the one that would be begun next
    std::array<Progress, kMaxChunks> progress{};
  };

  std::atomic<std::uint64_t> magic{0};  // written after all members before `segments`
  std::uint64_t chunk_offset = 0;
  std::atomic<std::uint64_t> chunk_count{0};  // chunks that the file has room for
  std::int64_t rank = 0;
  std::int64_t gzip_level = 1;
  std::array<char, 64> boot_id{};
  std::uint64_t is_tsc = 0;
  ClockPair start;
  std::array<TimeLine::Segment, kSegments> segments{};
  std::atomic<std::uint64_t> segment_count{0};  // segments ever added; the last ones are kept
  std::atomic<std::uint64_t> label_bytes{0};
  std::atomic<std::uint64_t> labels_without_room{0};
  std::array<char, kLabelBytes> labels{};
  std::atomic<std::uint64_t> commit_number{0};  // commits[number % 2] is valid
  std::array<Commit, 2> commits{};

  // Returns the bytes before the chunks.
  static constexpr std::size_t head_bytes() {
    constexpr std::size_t kPage = 4096;
    return (sizeof(JournalLayout) + kPage - 1) / kPage * kPage;
  }
};

// One thread may use it; only add_label() and grow() may be called by any, one at a time each.
class Journal {
 public:
  // Makes it in the journal_folder of the options, with room for pool_bytes; grow() may take that
  // for max_pool_bytes. Throws Error if the file cannot be made as large as it has to be.
  Journal(const traceloom_options& options, const ClockPair& start);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Returns memory that belongs to the pool; it has as many chunks as the file may get.
  std::byte* chunks() const { return chunks_; }
  std::size_t chunk_bytes() const { return max_chunks_ * detail::kChunkBytes; }
  // Returns whether the file has room for so many chunks; makes room for one more if it has to.
  bool grow(std::size_t chunks);
  const std::string& path() const { return path_; }

  void add_label(const Label& label);
  // Returns how many labels found no room so far: a recovery would not know their names.
  std::uint64_t labels_without_room() const { return layout_->labels_without_room.load(); }
  void add_segment(const TimeLine::Segment& segment);

  struct Written {
    detail::ChunkHeader* chunk = nullptr;
    std::uint32_t written = 0;
  };
  // Declares that the trace file is at `state`, and that these slots are in it or counted as lost.
  // commit_file() also declares which file that is, and when its cycle began.
  void commit(const FileState& state, const std::vector<Written>& written,
              const JournalLayout::CycleCounts& counts = {});
  void commit_file(const std::string& path, std::uint64_t begin_ticks, const FileState& state);

  // Deletes the file. Call this when nothing in it is missing elsewhere.
  void remove();
  // Gives it up in the child of a fork(): it belongs to the parent.
  void forget() { file_.close(); }

 private:
  void open_new(const traceloom_options& options);
  bool lock_new();

  std::string path_;
  Descriptor file_;
  JournalLayout* layout_ = nullptr;
  std::byte* chunks_ = nullptr;
  std::size_t max_chunks_ = 0;
  std::string trace_path_;
  std::uint64_t begin_ticks_ = 0;
};

// Does what lock_for_process() does. Also returns false if it is not the file at `path` any more:
// whoever had the lock before has deleted it.
bool lock_journal(int file, const std::string& path);

// Throws Error: why a recovery leaves a journal.
[[noreturn]] void refuse(const std::string& path, const std::string& why);

// DeadJournal: the journal of a process that has died, checked before anything in it is believed.
//
//   DeadJournal journal(path);
//   if (!journal.exists() || !journal.lock()) return;      // gone, or its process lives
//   if (journal.is_blank()) ...                             // its process did not live to fill it
//   journal.check();                                        // throws Error: why it is left
//   use(journal.trace_path(), journal.chunk(0));
//
// Journals lie where everybody may write (/dev/shm), and what they say decides which files are cut
// and renamed. So only journals of this user are opened, and no number in them is used as it
// stands.

// Results of its functions are valid as long as it lives; nothing is written to the file.
class DeadJournal {
 public:
  // Throws ForeignFile, without having opened the file, if it is not this user's own or others may
  // write to it; throws Error if it cannot be opened.
  explicit DeadJournal(const std::string& path);
  ~DeadJournal();
  DeadJournal(const DeadJournal&) = delete;
  DeadJournal& operator=(const DeadJournal&) = delete;

  const std::string& path() const { return path_; }
  // Returns false if another recovery has taken it away before it was opened.
  bool exists() const { return file_ >= 0; }
  // Returns false while its process lives, or if another recovery was faster.
  bool lock() const { return lock_journal(file_, path_); }
  // Returns true if its process died while it made it: there is nothing in it.
  bool is_blank();
  // Throws Error if it is no journal of this version, or is damaged. The functions below need this
  // check.
  void check();

  const JournalLayout& layout() const { return *reinterpret_cast<const JournalLayout*>(memory_); }
  const JournalLayout::Commit& commit() const {
    return layout().commits[layout().commit_number.load() % 2];
  }
  std::string trace_path() const;
  std::string boot_id() const;
  detail::ChunkHeader& chunk(std::size_t index) const;
  // Returns how many slots of it are in the trace.
  std::uint32_t written_of(const detail::ChunkHeader& chunk) const;

 private:
  void map();
  void check_counts() const;

  std::string path_;
  Descriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace traceloom::record
