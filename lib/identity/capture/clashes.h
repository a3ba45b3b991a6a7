// Clashes: files that can be read one by one but cannot be of one rank.
//
//   for (const Clash& clash : find_clashes(inputs, readings, capture)) throw clash.error;
#pragma once

#include "base/problems.h"
#include "identity/capture/capture.h"

#include <cstddef>
#include <vector>

namespace traceloom {

struct Clash {
  std::vector<std::size_t> files;
  Error error;  // names the files, and what to do
};

// Finds files that claim one rank at one time and are no repeats: the rank of one is wrong, or they
// are of independent processes. Two recorders of one process (Composer and torch) belong together,
// and so do cycles, which follow each other. Returns one clash a rank, in the order of the inputs.
std::vector<Clash> find_clashes(const std::vector<Input>& inputs,
                                const std::vector<FileReading*>& readings,
                                const RunInputs& capture);

// Counts Problem::several_runs for the first file of each run but the earliest. Files of torch of
// one rank are of different runs if they follow each other and are of different processes; windows
// of one run are of one process.
void note_runs(const std::vector<Input>& inputs, const std::vector<FileReading*>& readings,
               const RunInputs& capture);

}  // namespace traceloom
