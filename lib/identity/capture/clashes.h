// Files that can be read one by one but cannot be of one rank, or of one run.
//
//   check_files_of_ranks(inputs, readings, settled, false);    // in settle()
#pragma once

#include "identity/capture/capture.h"

#include <vector>

namespace traceloom {

// Looks at ranks with several files:
// - Files that claim one rank at one time and are no repeats: the rank of one is wrong, or they are
//   of independent processes. Throws Error with their names and what to do, for the first of the
//   inputs; with `lists_clashes` counts Problem::same_rank_at_once for all instead. Two recorders
//   of one process (Composer and torch) belong together, and so do cycles, which follow each other.
// - Files of torch that follow each other and are of different processes: they are of different
//   runs, since windows of one run are of one process. Counts Problem::several_runs for the first
//   file of each run but the earliest, of the lowest such rank.
void check_files_of_ranks(const std::vector<Input>& inputs,
                          const std::vector<FileReading*>& readings, const RunInputs& settled,
                          bool lists_clashes);

}  // namespace traceloom
