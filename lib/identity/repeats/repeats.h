// find_repeats: finds the inputs whose events others also hold, by one rule for all commands, so
// that each event counts once.
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
