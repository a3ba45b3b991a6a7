// The troubles of inputs and outputs: errors that end the work on one, problems that are counted,
// and the facts about each input that stand next to them in reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {

// Error: ends the work on one input or output, and names the place where the work failed.
//
//   throw Error("rank3.json.gz", 8812, "string is not closed");
//   // what(): "rank3.json.gz: byte 8812: string is not closed"

// Everything in lib/ throws it. Errors that no caller handles (keep_going handles those of one
// input) end in tools/common/run_tool.cpp: a line on stderr and exit code 2. A problem that does
// not end the work is a Problem (problems.h).
class Error : public std::runtime_error {
 public:
  // `problem` says what is wrong and, where there is one, what to try next.
  Error(const std::string& path, const std::string& problem);
  // `offset_bytes` counts in the uncompressed text.
  Error(const std::string& path, std::uint64_t offset_bytes, const std::string& problem);

  const std::string& path() const { return path_; }
  const std::optional<std::uint64_t>& offset_bytes() const { return offset_bytes_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string path_;
  std::optional<std::uint64_t> offset_bytes_;
  std::string problem_;
};

// The same Error with `advice` after its text: "...; --keep-going leaves it out".
Error with_advice(const Error& error, const std::string& advice);

// An Error with what the system says about `error_number` (an errno): "rank3.json: No such file or
// directory".
Error system_error(const std::string& path, int error_number);

// An Error that says the command line makes no sense; the message stands alone, without a path.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ProblemCounts: the problems of one input that did not stop the work, counted by kind.
//
//   ProblemCounts problems;
//   problems.add(Problem::cut_event, 8812);
//   for (Problem kind : problems.kinds()) print(describe(kind).sentence, problems.count(kind));
//
// To add a kind: one row in problem_kinds.h.

enum class Severity : std::uint8_t {
  info,    // legal but worth a word (a list without its closing bracket)
  notice,  // repaired; nothing that the file said is missing from the result
  loss,    // something the file said is missing from the result; --strict fails on it
};

enum class Problem : std::uint8_t {
#define PROBLEM(name, severity, sentence) name,
#include "base/problem_kinds.h"
  count_  // the number of kinds, not a kind
};

struct ProblemKind {  // a row of problem_kinds.h
  std::string_view name;
  Severity severity;
  std::string_view sentence;
};

const ProblemKind& describe(Problem problem);

// Counts and first byte offsets of the kinds that were met. Not thread-safe: each worker has its
// own counts, and they are added up in file order.
class ProblemCounts {
 public:
  void add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count = 1);
  void add(const ProblemCounts& other);
  // Adds words to the sentence of a problem that was added, for example the values that disagree.
  // The first explanation of a kind stays.
  void explain(Problem problem, std::string words);
  // Adds a problem with its words.
  void add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count, std::string words) {
    add(problem, offset_bytes, count);
    explain(problem, std::move(words));
  }

  // Removes a problem that turned out to be none.
  void forget(Problem problem);

  std::uint64_t count(Problem problem) const;
  // The lowest offset in the uncompressed text at which the problem was met; 0 if it was not met.
  std::uint64_t first_offset(Problem problem) const;
  // Empty if the problem has no explanation.
  std::string_view explanation(Problem problem) const;
  // The kinds that were met, in the order of the enum.
  std::vector<Problem> kinds() const;
  bool empty() const { return met_.empty(); }
  bool has_loss() const;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(met_); }

 private:
  struct Met {
    Problem problem;
    std::uint64_t count;
    std::uint64_t first_offset;
    std::string words;
  };
  const Met* find(Problem problem) const;

  // The problems that were met, sorted by kind. Most files have none, and thousands of files are
  // held at once: with a slot for every kind, the counts took a third of the memory of a file.
  std::vector<Met> met_;
};

// FileBlock: a piece of a list of files.
//
//   const FileBlock own{2, 5};                                    // files 2, 3 and 4

struct FileBlock {
  std::size_t begin = 0;
  std::size_t end = 0;  // one behind the last

  std::size_t size() const { return end - begin; }
};

// Longer than any list: for functions that cut it to theirs.
inline constexpr FileBlock kAllFiles{0, std::numeric_limits<std::size_t>::max()};

// FileFacts: the facts about an input that every report shows.
//
//   for (const FileFacts& file : run.files) use(file.path, file.events);

struct FileFacts {
  std::string path;
  std::optional<std::int64_t> rank = {};  // absent for a merged file and one that was left out
  std::vector<std::int64_t> ranks = {};   // the ranks of a merged file
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;  // uncompressed
  std::string error = {};        // why the file could not be read; empty after a success
  bool is_repeat = false;        // the file was left out because others hold its events
                                 // (repeats.h); `problems` names them
  ProblemCounts problems = {};   // problems of the text and of the ranks
};

}  // namespace traceloom
