// What a killed process has left in its journal, brought into its trace file.
//
//   for (const RecoveredTrace& trace : recover_journals("/dev/shm")) tell(trace.path,
//   trace.events);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

struct RecoveredTrace {
  std::string journal;
  std::string path;          // the trace, now complete; empty when there was nothing to write
  std::uint64_t events = 0;  // that the journal had and the file did not
  std::string problem;       // why the journal could not be used; it is still there then
};

// All journals in a folder whose processes have died, or those of one rank. The trace file of each
// is cut back to the last event that is known to be whole, gets the events that are missing, its
// end and its name; then the journal is deleted. Journals of processes that live are left alone.
// Throws Error when the folder cannot be read.
std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             std::optional<std::int64_t> rank = std::nullopt);

}  // namespace traceloom::record
