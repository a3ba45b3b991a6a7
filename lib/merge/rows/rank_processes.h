// RankProcesses: which process of a file is the main one of its rank, and what is said of the
// others, in all files of the rank alike.
//
//   RankProcesses known(surveys, ranks);
//   known.is_main(file, "1166")             // the one that ran the training loop
//   known.facts_of(file, "1201")->name      // a worker, whichever file names it
//
// The main process of a file is the one labelled CPU, the one that Composer marked with the rank,
// or the one with most events that are not of a GPU: counted over all files of the rank that say
// neither, so that two processes do not change places from file to file. Main processes of other
// pids are one with it (Composer writes the rank, a restarted job has another pid), unless they
// have threads of one tid: two that call both their threads 1 are two.
#pragma once

#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// A file of several ranks has no part in it, and speaks for itself.
class RankProcesses {
 public:
  // `surveys` and `ranks` must live as long.
  RankProcesses(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks);

  bool is_main(std::size_t file, const std::string& pid) const { return main_[file] == pid; }
  // What the file says of its main process; of another one what the first file of the rank says
  // that speaks of it. nullptr when nobody does.
  const ProcessFacts* facts_of(std::size_t file, const std::string& pid) const;

 private:
  void find_main(std::int64_t rank, const std::vector<std::size_t>& files);

  const std::vector<FileSurvey>& surveys_;
  const std::vector<FileRank>& ranks_;
  std::vector<std::optional<std::string>> main_;                                    // by file
  std::map<std::int64_t, std::map<std::string, const ProcessFacts*>> beside_main_;  // by rank, pid
};

}  // namespace traceloom
