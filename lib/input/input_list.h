// Command-line arguments to input files: directories and globs expanded, natural order, RANK= split
// off.
//
//   std::vector<Input> inputs = expand_inputs({"traces/", "3=slow/rank.json"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct Input {
  std::string path;                         // "-" is stdin
  std::optional<std::int64_t> forced_rank;  // from RANK=path
  // The path by which a later argument led to this file again, unless one of the two gave its rank.
  std::optional<std::string> named_again = {};
  // How it came to be an input: an argument is this very file; these arguments, by their number,
  // are folders or patterns that it was found by.
  bool is_named = true;
  std::vector<std::size_t> found_by = {};

  // Which file it is, however it was found.
  friend bool operator==(const Input& a, const Input& b) {
    return a.path == b.path && a.forced_rank == b.forced_rank && a.named_again == b.named_again;
  }
};

// A file stands for itself. A directory stands for the *.json, *.json.gz and node_trace.*.log files
// in it and below it (hidden files and directories left out, links followed); a pattern with * ? [
// that names no file for what it matches. Arguments keep their order; what one argument expands to
// is in natural order (rank2 before rank10). A file reached twice is taken once, where it was met
// first; when two arguments led to it, `named_again` tells, so that the tools can refuse what looks
// like a slip of the hand. (A folder and a RANK= for one of its files is none.)
//
// RANK=path forces the rank of all files that the path stands for; a file whose name really starts
// "3=" wins over that reading. Throws UsageError when nothing is given or a RANK makes no sense,
// and Error when a pattern matches nothing, a directory holds no trace or a path does not exist;
// MissingFile::keep keeps such a path, so that opening it fails, and may be survived.
enum class MissingFile : std::uint8_t { refuse, keep };
std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 MissingFile missing = MissingFile::refuse);

// True when a sorts before b: runs of digits compare as numbers. A strict total order.
bool natural_less(const std::string& a, const std::string& b);

// True when both paths name the same file (device and inode), also through links. "-" is no file.
bool same_file(const std::string& a, const std::string& b);
// The same, or the same path where there is no file yet.
bool is_same_path(const std::string& a, const std::string& b);

// True when `path` ("-" is stdout) is the file of one of the inputs, also through links or as
// stdin: to write there would destroy it.
bool is_input(const std::vector<Input>& inputs, const std::string& path);

// False for a pipe and for "-", which may be one. True where nothing is, or a folder: opening it
// will tell.
bool can_be_reread(const std::string& path);

// Throws UsageError, with both names, when two arguments led to one file.
void refuse_repeated(const std::vector<Input>& inputs);

// What the files of all inputs take on disk together, for progress; 0 when that is not known of one
// (a pipe).
std::uint64_t stored_bytes(const std::vector<Input>& inputs);

}  // namespace traceloom
