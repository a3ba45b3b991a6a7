// FileReading: what a visitor gathers of one file beside its events, and what is told of it then.
//
//   void end_file(std::size_t file, const FileEnd& end) override { readings_[file].end(end); }
//   FileFacts facts = describe_file(path, readings_[file], ranks[file]);
#pragma once

#include "base/error.h"
#include "base/file_facts.h"
#include "scan/scan_files.h"
#include "survey/file_evidence.h"
#include "survey/ranks.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace traceloom {

struct FileReading {
  FileEvidence evidence = {};
  ProblemCounts problems = {};
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;
  std::string error = {};  // why it could not be read; empty when it could

  // Takes what is known at the end of the file.
  void end(const FileEnd& file_end);
};

// `rank` means nothing for a file that could not be read.
FileFacts describe_file(const std::string& path, const FileReading& file, const FileRank& rank);

// For an input that cannot be read, where none may be left out: throws `error`, with what would
// leave it out where there are others.
[[noreturn]] void stop_at(const Error& error, std::size_t files);

// The order in which files are told of, however they were given: by rank, merged files by their
// first one, those that were left out last; of one rank in natural order.
bool is_told_before(const FileFacts& a, const FileFacts& b);

}  // namespace traceloom
