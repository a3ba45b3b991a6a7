// recover_journals(): brings what a killed process has left in its journal into its trace file.
//
//   for (const RecoveredTrace& trace : recover_journals("/dev/shm", {"traces"}))
//     tell(trace.path, trace.events);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

struct RecoveredTrace {
  std::string journal;
  std::string path;           // the trace, now complete; empty if there was nothing to write
  std::uint64_t events = 0;   // the journal had them and the file did not
  std::uint64_t unnamed = 0;  // events whose marker's name had no room in the journal
  // The journal had them, and they could not be written: their values have no names, or are no
  // numbers.
  std::uint64_t lost = 0;
  std::uint64_t nameless = 0;  // lost, because the journal had no room for the names
  std::uint64_t damaged = 0;   // slots that cannot be read in the journal, each an event or a part
  std::string problem;         // why the journal was not used; it is still there then
  // The problem is that the journal is not this user's own: nothing of this user is lost.
  bool is_foreign = false;
};

// Recovers all journals in `folder` whose processes have died, or those of one rank. The trace file
// of each is cut back to the last event that is known to be whole, gets the events that are
// missing, its end and its name; then the journal is deleted. Journals of processes that live are
// left alone.
//
// A journal says which file is cut and renamed, and lies where others may write. So it is used only
// if
//
// 1. journal and trace belong to this user,
// 2. both are regular files with one name, and neither is a link,
// 3. the trace has the name of an unfinished trace,
// 4. the trace lies in one of `trace_folders` or below it.
//
// A journal that holds nothing, because all its events are in a trace that is finished or gone, is
// deleted in any case. All other journals stay as they are, and `problem` says why. So do journals
// of another version, journals with impossible numbers, and journals of which no event can be read.
// Single damaged events are left out and counted, by the trace as well. If the trace cannot be
// written, it stays as it was, and so does the journal: the recovery can be tried again.
//
// Throws Error if the folder cannot be read.
std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             const std::vector<std::string>& trace_folders,
                                             std::optional<std::int64_t> rank = std::nullopt);

// Returns how many journals of this user in `folder` were made by processes that have died, more
// than a day ago. Throws Error if the folder cannot be read.
std::size_t count_old_journals(const std::string& folder);

// Returns what such a trace lacks: ", 3 without the names of their markers, 1 lost", or "" if it
// lacks nothing.
std::string words_of_loss(const RecoveredTrace& trace);
// Returns why its journal is still there, for people. Call it only if there is a problem.
std::string words_of_problem(const RecoveredTrace& trace);

}  // namespace traceloom::record
