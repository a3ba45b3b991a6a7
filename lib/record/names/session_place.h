// The place of a session: which process of the run it belongs to, and which of its files are
// kept.
#pragma once

#include "record/names/name_template.h"
#include "record/session.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

// settled_options(), identity_of(): say which process of the run a session belongs to, from its
// options or the launcher.
//
//   Options options;                              // rank -1: as RANK, SLURM_PROCID and so on say
//   const Options settled = settled_options(options);
//   settled.rank;                                 // 3
//   settled.folder;                               // "run7/traces"

#pragma GCC visibility push(default)  // the merge per node uses them, too

namespace traceloom::record {

// Returns the options with rank, world size and node as known_place() has them, or 0 if nobody says
// them, and with a folder without placeholders. Throws std::invalid_argument as find_place() does.
Options settled_options(Options options);

// Returns the identity for names: unknown sizes are those of a run that ends with this rank.
RunIdentity identity_of(const Options& options);

}  // namespace traceloom::record

#pragma GCC visibility pop

namespace traceloom::record {

// KeptTraces: the newest files that this process saved; it deletes older ones.
//
//   KeptTraces kept(3);
//   kept.add(saved);      // its file is complete
//   kept.delete_old();    // the oldest, when that was the fourth
//   kept.list()           // oldest first

inline constexpr std::int64_t kKeepAllTraces = -1;

// A cycle, or events that ended after one and became a file of their own when the session was
// closed.
enum class TracePart : std::uint8_t { cycle, rest };

// Not thread-safe.
class KeptTraces {
 public:
  // 0 deletes each file once it has been saved. Throws std::invalid_argument below -1.
  explicit KeptTraces(std::int64_t num_traces_to_keep);

  // Adds a trace. Returns what is wrong with it, for example that it is gone already; it is not
  // kept then. A rest counts as a part of the cycle before it, and is deleted with that.
  std::optional<std::string> add(const SavedTrace& trace, TracePart part = TracePart::cycle);
  // Deletes a file only if it was added here and still is the same file. A file that somebody has
  // put in its place stays, and so does one whose name a later save has used again. Returns what
  // could not be deleted, which is then forgotten: "traces/ep0-ba5-rank0.json: Permission denied".
  std::vector<std::string> delete_old();

  std::vector<SavedTrace> list() const;

 private:
  struct Kept {
    SavedTrace trace;
    dev_t device = 0;
    ino_t inode = 0;
    TracePart part = TracePart::cycle;
  };

  std::size_t cycle_count() const;
  std::string remove(const Kept& kept) const;

  std::int64_t most_;
  std::deque<Kept> kept_;
};

}  // namespace traceloom::record
