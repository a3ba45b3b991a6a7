// Which traces does each input hold? A trace holds itself; a merge those of its inputs, whether
// they are among the inputs or not.
//
//   std::vector<HeldInputs> held = find_held_inputs(files, ranks);
//   held[0].traces      // {0}, and of a merge {1, 2, 3}
#pragma once

#include "identity/evidence/file_evidence.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// An input and what it says. Both must live as long.
struct InputEvidence {
  const Input& input;
  const FileEvidence& evidence;
};

struct HeldInputs {
  // Ascending. The number of an input, or a larger one of a trace that is none: equal where two
  // merges hold the same one.
  std::vector<std::size_t> traces;
  bool is_part = false;  // some of their events may not be in it
};

// One entry an input. What a merge of ours was made of it has noted: a trace is known again by its
// tally; one that was written on since by how it begins; and of merges that have noted no tallies
// by rank, times, and number of events or name. A merge of Composer's holds the traces of Composer
// whose threads and clock syncs it has, at the times that it has: also those that are known only
// from what a merge of ours has noted, and also where it is known only so itself.
std::vector<HeldInputs> find_held_inputs(const std::vector<InputEvidence>& files,
                                         const std::vector<FileRank>& ranks);

}  // namespace traceloom
