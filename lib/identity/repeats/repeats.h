// Inputs whose events others hold too.
#pragma once

#include "base/problems.h"
#include "identity/ranks/ranks.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

// find_repeats: finds the inputs whose events others also hold, by one rule for all commands, so
// that each event counts once.
//
//   const std::vector<Repeat> repeats = find_repeats(files);
//   for (const Repeat& repeat : repeats) leave_out(repeat.file, repeat.problems());

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
std::vector<Repeat> find_repeats(const std::vector<InputReading>& files);

// Files that hold the same events as others though nothing in them says so: parts of a capture, and
// merges by other tools. They are recognised by what each of their threads holds.
//
//   for (const HeldElsewhere& file : find_foreign_merges(files, ranks, stays)) leave_out(file);

// A file whose events the owners hold together.
struct HeldElsewhere {
  std::size_t file = 0;
  std::set<std::size_t> owners;
};

// Finds merges of files of at least two ranks that stay. Such tools write new process and thread
// numbers, may move the times of a rank, and may drop events, so threads are compared by their
// number of events, the distances of their starts, and their durations. A merge has either all
// threads of its inputs and as many events as they, or threads that it shares with one file each.
// It says no rank but one of theirs. Time: linear in threads, as long as no file has the threads
// of others.
std::vector<HeldElsewhere> find_foreign_merges(const std::vector<InputReading>& files,
                                               const std::vector<FileRank>& ranks,
                                               const std::vector<bool>& stays);

// Whether files share threads at all, which takes no ranks to tell.
bool share_threads(const std::vector<InputReading>& files);

// Whether the merge may as well be a capture in pieces: nothing says a rank, and the numbers of its
// threads are those of the owners.
bool may_be_in_pieces(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
                      const HeldElsewhere& merge);

// Finds files with a part of another file of their rank and recorder: each of its threads is as in
// the other file, or it makes up the other file together with the rest of its parts. Time: linear
// in files of a rank that follow each other.
std::vector<HeldElsewhere> find_parts(const std::vector<InputReading>& files,
                                      const std::vector<FileRank>& ranks,
                                      const std::vector<bool>& stays);

}  // namespace traceloom
