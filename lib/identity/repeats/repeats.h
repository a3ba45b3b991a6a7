// Inputs whose events others hold too: which traces an input holds, and which inputs are
// repeats.
#pragma once

#include "base/problems.h"
#include "identity/evidence/file_evidence.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

// find_held_inputs: finds the traces that each input holds. A trace holds itself; a merge holds the
// traces of its inputs, even if they are not inputs now.
//
//   std::vector<HeldInputs> held = find_held_inputs(files, ranks);
//   held[0].traces      // {0}, or {1, 2, 3} for a merge

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

// find_repeats: finds the inputs whose events others also hold, by one rule for all commands, so
// that each event counts once.
//
//   const std::vector<Repeat> repeats = find_repeats(files);
//   for (const Repeat& repeat : repeats) leave_out(repeat.file, repeat.problems());

// An input that is to be left out.
struct Repeat {
  std::size_t file = 0;
  std::string words;  // "it is a copy of d/rank0.json"

  // Contains Problem::repeated.
  ProblemCounts problems() const;
};

// Leaves out these files, if a folder (or a pattern) led to them and to what they repeat:
// - a copy of another file, whatever its compression: the same events, rank and clock. The file
//   that was named, or that names its rank, stays.
// - a merge, by us or by Composer, of other inputs, even of only some of them or with a filter
// - a file that a merge holds which holds more than the other inputs
//
// Throws Error with both names if both were named or come from two folders, because that looks like
// a mistake, or if two merges share a trace and neither holds all of the other. Also throws what
// assign_ranks() throws. The result is sorted by the number of the file.
//
// It costs next to nothing if no input was merged and no two have the same number of events with
// the same times.
std::vector<Repeat> find_repeats(const std::vector<InputEvidence>& files);

}  // namespace traceloom
