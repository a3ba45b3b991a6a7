// NodeNotes: what the ranks of a node tell its first rank of the traces they have saved, as small
// files in a hidden folder beside these.
//
//   NodeNotes notes("run7/traces", 0, 3);                  // node 0, local rank 3
//   notes.write({.cycle = 0, .rank = 11, .path = "run7/traces/ep0-ba4-rank11.json", ...});
//   notes.read(0, 3);                                      // nullopt: nothing yet
//   notes.is_at_work(3);                                   // whether there may be more
//
// Files, since the ranks of a node share nothing else that all launchers give them. Each rank holds
// a lock as long as it may write notes; the system lets go of it when the process dies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <tuple>

namespace traceloom {

// A trace that a rank has saved, and which file that is.
struct TraceNote {
  std::uint64_t cycle = 0;  // of the rank's session, from 0
  std::int64_t rank = 0;
  std::string path = {};  // "": it has none of this cycle
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::string kept = {};  // another name of the file, which stays until the note is removed

  // Where it is to be read.
  const std::string& source() const { return kept.empty() ? path : kept; }

  friend bool operator==(const TraceNote&, const TraceNote&) = default;
};

// What is at `path` now; of a path that leads to no file nothing but that.
TraceNote note_of(std::uint64_t cycle, std::int64_t rank, const std::string& path);
// Whether what is noted is still there, and the same.
bool is_there(const TraceNote& note);

// The process that has it, its device and its inode.
using FileOfProcess = std::tuple<pid_t, dev_t, ino_t>;

// Not thread-safe. The first rank of a node has to be made before another one writes.
class NodeNotes {
 public:
  // Takes up work as that local rank: removes what an earlier run of it has left, and as the first
  // one what is there of ranks that are not at work. Throws Error, also when somebody is at work as
  // that rank, in this process or another.
  NodeNotes(const std::string& traces, std::int64_t node_rank, std::int64_t local_rank);
  ~NodeNotes();  // leave()
  NodeNotes(const NodeNotes&) = delete;
  NodeNotes& operator=(const NodeNotes&) = delete;

  // Throws Error.
  void write(const TraceNote& note) const;
  // What the second name of a file is made of: its own name, or the cycle's number where the own
  // name does not tell which cycle it is ("cycle3-rank1.json").
  enum class KeptName : std::uint8_t { own, of_cycle };
  // Whatever becomes of the file at its path, what is noted of it stays until remove(). A second
  // name of it costs nothing; where the file system has none it is copied. Throws Error.
  TraceNote keep(TraceNote note, KeptName name = KeptName::own) const;
  // Of the cycle, by that local rank.
  std::optional<TraceNote> read(std::uint64_t cycle, std::int64_t local_rank) const;
  void remove(std::uint64_t cycle, std::int64_t local_rank) const;
  // False also for one that has not begun yet.
  bool is_at_work(std::int64_t local_rank) const;
  // There will be no more notes of this rank. The last to leave removes the folder.
  void leave();

 private:
  std::string path_of(std::uint64_t cycle, std::int64_t local_rank) const;
  std::string kept_folder(std::uint64_t cycle, std::int64_t local_rank) const;
  std::string kept_path(const TraceNote& note, std::int64_t local_rank, KeptName name) const;
  std::string lock_path(std::int64_t local_rank) const;
  void take_lock();
  void remove_stale() const;

  std::string traces_;
  std::string folder_;
  std::int64_t local_rank_;
  int lock_ = -1;
  std::optional<FileOfProcess> held_;  // that of the lock
};

}  // namespace traceloom
