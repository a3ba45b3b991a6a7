// RunInputs: all inputs of a command as one run, by one rule for all commands: which of them count,
// the rank of each, its clock, and what is wrong with them.
//
//   std::vector<FileReading> readings = read(inputs);           // by any visitor
//   const RunInputs capture = settle(inputs, readings);
//   for (std::size_t i = 0; i < inputs.size(); ++i)
//     if (readings[i].counts()) use(capture.ranks[i], capture.clocks.clocks[i]);
#pragma once

#include "base/problems.h"
#include "identity/clocks/clock_plan.h"
#include "identity/evidence/file_reading.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"

#include <concepts>
#include <vector>

namespace traceloom {

// One entry an input; those of inputs that do not count have no meaning.
struct RunInputs {
  std::vector<FileRank> ranks;
  ClockPlan clocks;
};

struct SettleOptions {
  ClockOptions clock = {};
  // Count files of one rank and one time as Problem::same_rank_at_once, instead of throwing.
  bool lists_clashes = false;
};

// Call it after all inputs have been read; one entry an input. Marks files whose events others hold
// (repeats.h), assigns ranks and plans clocks of the rest. Throws Error for what these refuse, and
// for files that cannot be of one rank; counts files of several runs. Time: linear in files, next
// to the clocks.
RunInputs settle(const std::vector<Input>& inputs, const std::vector<FileReading*>& readings,
                 const SettleOptions& options = {});
// Does the same without a search for repeats, for readings that are samples.
RunInputs settle_samples(const std::vector<Input>& inputs,
                         const std::vector<FileReading*>& readings,
                         const SettleOptions& options = {});

// The pointers that settle() takes, to files of a type that is a FileReading.
template <std::derived_from<FileReading> File>
std::vector<FileReading*> readings_of(std::vector<File>& files) {
  std::vector<FileReading*> readings;
  readings.reserve(files.size());
  for (File& file : files) readings.push_back(&file);
  return readings;
}

// The order in which files are reported, however they were given: by rank, merged files by their
// first rank, files that were left out last; files of one rank are in natural order.
bool is_reported_before(const FileFacts& a, const FileFacts& b);

}  // namespace traceloom
