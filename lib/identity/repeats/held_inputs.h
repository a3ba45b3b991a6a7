// find_held_inputs: finds the traces that each input holds. A trace holds itself; a merge holds the
// traces of its inputs, even if they are not inputs now.
//
//   std::vector<HeldInputs> held = find_held_inputs(files, ranks);
//   held[0].traces      // {0}, or {1, 2, 3} for a merge
#pragma once

#include "identity/evidence/file_evidence.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// An input and its evidence. Both must outlive this object.
struct InputEvidence {
  const Input& input;
  const FileEvidence& evidence;
};

struct HeldInputs {
  // Numbers of the traces, ascending: that of an input, or a larger one for a trace that is no
  // input. Two merges that hold the same trace have the same number.
  std::vector<std::size_t> traces;
  bool is_part = false;  // some events of the traces may be missing
};

// Returns one entry an input. A merge of ours notes its inputs, which are recognised by these
// rules:
// 1. A trace has the noted tally.
// 2. A trace that has grown since begins like the noted one.
// 3. For merges without noted tallies: rank and times agree, and the number of events or the name.
//
// A merge of Composer's holds those of Composer's traces whose threads and clock syncs it contains
// at the same times. This includes traces, and merges of Composer's, that are known only from the
// notes of a merge of ours.
std::vector<HeldInputs> find_held_inputs(const std::vector<InputEvidence>& files,
                                         const std::vector<FileRank>& ranks);

}  // namespace traceloom
