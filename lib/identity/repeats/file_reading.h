// FileReading: the facts that a visitor gathers about one file, besides its events.
//
//   void end_file(std::size_t file, const FileEnd& end) override { readings_[file].end(end); }
//   mark_repeats(inputs, readings);
//   if (readings_[file].counts()) ...
//   FileFacts facts = describe_file(path, readings_[file], ranks[file]);
#pragma once

#include "base/problems.h"
#include "identity/evidence/event_tally.h"
#include "identity/evidence/file_evidence.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"
#include "scan/scan_files.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

struct FileReading {
  FileEvidence evidence = {};
  StartTimes starts = {};
  ProblemCounts problems = {};
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;
  std::string error = {};  // why the file could not be read; empty after a success
  bool is_repeat = false;  // others hold its events; `problems` names them

  // For other processes: see team/wire.h.
  auto wired() {
    return std::tie(evidence, starts, problems, events, text_bytes, error, is_repeat);
  }

  // Takes the facts that are known at the end of the file.
  void end(const FileEnd& file_end);
  // False for a file from which no events are used.
  bool counts() const { return error.empty() && !is_repeat; }
};

// Marks the files that are repeats (repeats.h). Call it after all files have been read; one entry
// an input.
void mark_repeats(const std::vector<Input>& inputs, const std::vector<FileReading*>& files);
// Does the same for the files themselves, of a type that is a FileReading.
template <std::derived_from<FileReading> File>
void mark_repeats(const std::vector<Input>& inputs, std::vector<File>& files) {
  std::vector<FileReading*> readings;
  readings.reserve(files.size());
  for (File& file : files) readings.push_back(&file);
  mark_repeats(inputs, readings);
}

// Counts as outlying_timestamp the events that are on no time line with most events, and those that
// `times` leaves out.
void count_outliers(const StartTimes& starts, const TimeMap& times, ProblemCounts& problems);

// `rank` has no meaning for a file that does not count.
FileFacts describe_file(const std::string& path, const FileReading& file, const FileRank& rank);

// Throws `error` for an input that cannot be read and must not be left out. If there are other
// inputs, the message names the option that leaves it out.
[[noreturn]] void stop_at(const Error& error, std::size_t files);

// The order in which files are reported, however they were given: by rank, merged files by their
// first rank, files that were left out last; files of one rank are in natural order.
bool is_reported_before(const FileFacts& a, const FileFacts& b);

}  // namespace traceloom
