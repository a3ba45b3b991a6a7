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
#pragma once

#include "record/journal/journal.h"
#include "record/support/own_file.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace traceloom::record {

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

 private:
  void map();
  void check_counts() const;

  std::string path_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace traceloom::record
