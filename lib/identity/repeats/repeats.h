// Which inputs hold nothing but events that others hold as well? One rule for all commands: each
// event counts once.
//
//   const std::vector<Repeat> repeats = find_repeats(files);
//   for (const Repeat& repeat : repeats) leave_out(repeat.file, repeat.problems());
#pragma once

#include "base/problems.h"
#include "identity/repeats/held_inputs.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

// An input that is to be left out.
struct Repeat {
  std::size_t file = 0;
  std::string words;  // "it is a copy of d/rank0.json"

  // Problem::repeated.
  ProblemCounts problems() const;
};

// Found in a folder (or by a pattern) with what it repeats, a file is left out:
// - a copy of another file, however it is packed: the same events, rank and clock. What was
//   named, and what says its rank, stays.
// - a merge, of ours or of Composer's, of other inputs, also of some of them, and with a filter;
// - what a merge holds that holds more than the other inputs.
// Where both were named, or are in two folders, it looks like a slip of the hand, and where two
// merges share a trace and neither holds all of the other, nothing can be left out: throws Error,
// with both names. By rising number of the file; what assign_ranks() throws is thrown here, too.
//
// Costs next to nothing where no input was merged and no two have as many events with the same
// times.
std::vector<Repeat> find_repeats(const std::vector<InputEvidence>& files);

}  // namespace traceloom
