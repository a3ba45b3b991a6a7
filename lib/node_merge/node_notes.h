// NodeNotes: the notes by which the ranks of a node report their saved traces to the first rank, as
// small files in a hidden folder next to the traces.
//
//   NodeNotes notes("run7/traces", 0, 3);                  // node 0, local rank 3
//   notes.write({.cycle = 0, .rank = 11, .path = "run7/traces/ep0-ba4-rank11.json", ...});
//   notes.read(0, 3);                                      // nullopt: nothing yet
//   notes.is_at_work(3);                                   // whether there may be more
//
// They are files, because the ranks of a node share nothing else that all launchers give them. Each
// rank holds a lock as long as it may write notes; the system releases the lock when the process
// dies.
#pragma once

#include "base/file_system.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <tuple>
#include <vector>

namespace traceloom {

// A trace that a rank has saved, and the file that it was.
struct TraceNote {
  std::uint64_t cycle = 0;  // the cycle of the rank's session, from 0
  std::int64_t rank = 0;
  std::string path = {};  // "": the rank has no trace of this cycle
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::string kept = {};  // another name of the file, which stays until the note is removed

  // Returns the path to read.
  const std::string& source() const { return kept.empty() ? path : kept; }

  friend bool operator==(const TraceNote&, const TraceNote&) = default;
};

// Returns a note of the file that is at `path` now, or a note without a path if there is none.
TraceNote note_of(std::uint64_t cycle, std::int64_t rank, const std::string& path);
// Returns whether the noted file is still there and has not changed.
bool is_there(const TraceNote& note);

// The process that has the file open, and the file's device and inode.
using FileOfProcess = std::tuple<pid_t, dev_t, ino_t>;

// Writes and reads notes for one rank. Not thread-safe. The first rank of a node must have its
// object before another rank writes.
class NodeNotes {
 public:
  // Starts to work as that local rank: removes what an earlier run of it has left, and on the first
  // rank also what there is of ranks that are not at work. Throws Error, also if this process or
  // another one is at work as that rank.
  NodeNotes(const std::string& traces, std::int64_t node_rank, std::int64_t local_rank);
  ~NodeNotes();  // calls leave()
  NodeNotes(const NodeNotes&) = delete;
  NodeNotes& operator=(const NodeNotes&) = delete;

  // Throws Error if the note cannot be written.
  void write(const TraceNote& note) const;
  // Keeps the file of a note until remove(), whatever happens to the file at its path. It gets a
  // second name, `name` or its own, which costs nothing; if the file system has none, the file is
  // copied. Throws Error.
  TraceNote keep(TraceNote note, const std::string& name = {}) const;
  // Returns what that local rank has noted of the cycle.
  std::optional<TraceNote> read(std::uint64_t cycle, std::int64_t local_rank) const;
  void remove(std::uint64_t cycle, std::int64_t local_rank) const;
  // Returns false also for a rank that has not begun yet.
  bool is_at_work(std::int64_t local_rank) const;
  // Ends the notes of this rank. The last rank to leave removes the folder.
  void leave();

 private:
  std::string path_of(std::uint64_t cycle, std::int64_t local_rank) const;
  std::string kept_folder(std::uint64_t cycle, std::int64_t local_rank) const;
  std::string relative(const std::string& path) const;
  std::string lock_path(std::int64_t local_rank) const;
  void take_lock();
  void remove_stale() const;

  std::string traces_;
  std::string folder_;
  std::int64_t local_rank_;
  Descriptor lock_;
  std::optional<FileOfProcess> held_;  // the file of the lock
};

// Returns the names in a folder; a folder that cannot be read has none.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace traceloom
