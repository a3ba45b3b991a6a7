// Files that hold the same events as others though nothing in them says so: parts of a capture, and
// merges by other tools. They are recognised by what each of their threads holds.
//
//   for (const HeldElsewhere& file : find_foreign_merges(files, ranks, stays)) leave_out(file);
#pragma once

#include "identity/ranks/ranks.h"
#include "identity/repeats/repeats.h"

#include <cstddef>
#include <set>
#include <vector>

namespace traceloom {

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
std::vector<HeldElsewhere> find_foreign_merges(const std::vector<InputEvidence>& files,
                                               const std::vector<FileRank>& ranks,
                                               const std::vector<bool>& stays);

// Whether files share threads at all, which takes no ranks to tell.
bool share_threads(const std::vector<InputEvidence>& files);

// Whether the merge may as well be a capture in pieces: nothing says a rank, and the numbers of its
// threads are those of the owners.
bool may_be_in_pieces(const std::vector<InputEvidence>& files, const std::vector<FileRank>& ranks,
                      const HeldElsewhere& merge);

// Finds files with a part of another file of their rank and recorder: each of its threads is as in
// the other file, or it makes up the other file together with the rest of its parts. Time: linear
// in files of a rank that follow each other.
std::vector<HeldElsewhere> find_parts(const std::vector<InputEvidence>& files,
                                      const std::vector<FileRank>& ranks,
                                      const std::vector<bool>& stays);

}  // namespace traceloom
