// expand_inputs: turns command-line arguments into input files. It expands directories and globs,
// sorts in natural order, and splits off RANK=.
//
//   std::vector<Input> inputs = expand_inputs({"traces/", "3=slow/rank.json"});
#pragma once

#include "input/file_kinds.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct Input {
  // "-" is stdin.
  std::string path;
  std::optional<std::int64_t> forced_rank;  // the rank given as RANK=path
  // The path by which a later argument led to this file again; absent if one of the two arguments
  // gave the rank.
  std::optional<std::string> named_again = {};
  // The way to the input: `is_named` means that an argument is this very file; `found_by` holds
  // the numbers of the arguments that are folders or patterns and led to it.
  bool is_named = true;
  std::vector<std::size_t> found_by = {};

  // Compares which file it is, not how it was found.
  friend bool operator==(const Input& a, const Input& b) {
    return a.path == b.path && a.forced_rank == b.forced_rank && a.named_again == b.named_again;
  }
};

// OtherFiles holds what expand_inputs() leaves out of directories, and files of memory.
struct OtherFile {
  FileKind kind = FileKind::unknown;
  std::string path;
  std::optional<std::int64_t> forced_rank = {};
  std::size_t argument = 0;  // the number of the argument that led to it
  bool is_found = false;     // in a directory, by its name
};
struct OtherFiles {
  std::vector<std::string> no_traces = {};
  // Names that end nearly like those of traces: .JSON, .trace, .json.xz; they are always left out.
  std::vector<std::string> other_names = {};
  std::vector<OtherFile> of_kind = {};  // files of directories that are of a kind
  // Files of memory that an argument or pattern names are appended there, too, and a directory of
  // them needs no trace; the result may be empty.
  bool takes_memory = false;
};

// Expands each argument by these rules:
// 1. A file stands for itself.
// 2. A directory stands for the *.json, *.json.gz, *.json.zst and node_trace.*.log files in it and
//    below it. Hidden files and directories are left out, links are followed.
// 3. A pattern with * ? [ that names no file stands for the files that it matches.
// 4. RANK=path forces the rank of all files that the path stands for. A file whose name really
//    starts with "3=" has priority over that reading.
//
// Arguments keep their order; the files of one argument are in natural order (rank2 before rank10).
// A file reached twice is taken once, at its first place. If two arguments led to it, `named_again`
// is set, so that the tools can refuse a probable mistake. (A folder plus a RANK= for one of its
// files is no mistake.)
//
// Throws UsageError if nothing is given or a RANK makes no sense. Throws Error if a pattern matches
// nothing, a directory holds no trace or a path does not exist; with MissingFile::keep such a path
// stays in the list, so that opening it fails later and the caller can go on without it.
//
// A call with `other_files` leaves out JsonFile::other of a directory, and appends it there.
enum class MissingFile : std::uint8_t { refuse, keep };
std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 MissingFile missing = MissingFile::refuse,
                                 OtherFiles* other_files = nullptr);

// True if a sorts before b: runs of digits compare as numbers. The order is strict and total.
bool natural_less(const std::string& a, const std::string& b);

// True if both paths name the same file (device and inode), also through links. "-" is no file.
bool same_file(const std::string& a, const std::string& b);
// True if same_file() is, or if both are the same path and no file exists there yet.
bool is_same_path(const std::string& a, const std::string& b);

// True if `path` ("-" is stdout) is the file of one of the inputs, also through links or as stdin:
// writing there would destroy the input.
bool is_input(const std::vector<Input>& inputs, const std::string& path);

// False for a pipe and for "-", which may be a pipe. True for a folder and a missing file: opening
// it will report the error.
bool can_be_reread(const std::string& path);

std::vector<std::string> paths_of(const std::vector<Input>& inputs);

// Throws UsageError with both names if two arguments led to one file.
void refuse_repeated(const std::vector<Input>& inputs);

// The bytes that all input files take on disk together, for progress. It is 0 if the size of one of
// them is not known (a pipe).
std::uint64_t stored_bytes(const std::vector<Input>& inputs);

}  // namespace traceloom
