// FileReading: what a visitor gathers of one file beside its events, and what is told of it then.
//
//   void end_file(std::size_t file, const FileEnd& end) override { readings_[file].end(end); }
//   mark_repeats(inputs, readings);
//   if (readings_[file].counts()) ...
//   FileFacts facts = describe_file(path, readings_[file], ranks[file]);
#pragma once

#include "base/error.h"
#include "base/file_facts.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct FileReading {
  FileEvidence evidence = {};
  StartTimes starts = {};
  ProblemCounts problems = {};
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;
  std::string error = {};  // why it could not be read; empty when it could
  bool is_repeat = false;  // others hold its events: `problems` say which

  // Takes what is known at the end of the file.
  void end(const FileEnd& file_end);
  // False for a file of which nothing is to be taken.
  bool counts() const { return error.empty() && !is_repeat; }
};

// When all files have been read, one an input: notes which of them are repeats (repeats.h).
void mark_repeats(const std::vector<Input>& inputs, const std::vector<FileReading*>& files);

// Counts as outlying_timestamp the events that no time line of most of them reaches, and those that
// `times` leave out.
void count_outliers(const StartTimes& starts, const TimeMap& times, ProblemCounts& problems);

// `rank` means nothing for a file that does not count.
FileFacts describe_file(const std::string& path, const FileReading& file, const FileRank& rank);

// For an input that cannot be read, where none may be left out: throws `error`, with what would
// leave it out where there are others.
[[noreturn]] void stop_at(const Error& error, std::size_t files);

// The order in which files are told of, however they were given: by rank, merged files by their
// first one, those that were left out last; of one rank in natural order.
bool is_told_before(const FileFacts& a, const FileFacts& b);

}  // namespace traceloom
