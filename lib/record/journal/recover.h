// What a killed process has left in its journal, brought into its trace file.
//
//   for (const RecoveredTrace& trace : recover_journals("/dev/shm", {"traces"}))
//     tell(trace.path, trace.events);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

struct RecoveredTrace {
  std::string journal;
  std::string path;           // the trace, now complete; empty when there was nothing to write
  std::uint64_t events = 0;   // that the journal had and the file did not
  std::uint64_t unnamed = 0;  // of those: the journal had no room for the name of their marker
  std::uint64_t lost = 0;     // that the journal had, and that could not be written
  std::uint64_t damaged = 0;  // that cannot be read there
  std::string problem;        // why the journal was not used; it is still there then
  // The problem is that the journal is not this user's own: nothing of this user is lost.
  bool is_foreign = false;
};

// All journals in `folder` whose processes have died, or those of one rank. The trace file of each
// is cut back to the last event that is known to be whole, gets the events that are missing, its
// end and its name; then the journal is deleted. Journals of processes that live are left alone.
//
// A journal says which file is cut and renamed, and lies where others may write. So it is used only
// where journal and trace belong to this user and are regular files of one name, no link among
// them, and where the trace has the name of an unfinished trace and lies in one of
// `trace_folders` or below it. All others stay as they are, and `problem` says why; so do journals
// of another version, those whose numbers cannot be and those of which no event can be read. Single
// damaged events are left out and counted, by the trace as well.
// Where the trace cannot be written it is as it was, and so is the journal: it can be tried again.
//
// Throws Error when the folder cannot be read.
std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             const std::vector<std::string>& trace_folders,
                                             std::optional<std::int64_t> rank = std::nullopt);

// ", 3 without the names of their markers, 1 lost": what such a trace lacks; "" when nothing.
std::string words_of_loss(const RecoveredTrace& trace);
// Why its journal is still there, for people. Only where there is a problem.
std::string words_of_problem(const RecoveredTrace& trace);

}  // namespace traceloom::record
