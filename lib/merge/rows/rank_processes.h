// RankProcesses: which process of a file is the main one of its rank, and what the files of the
// rank say of the other processes.
//
//   RankProcesses known(surveys, ranks);
//   known.is_main(file, "1166")             // the one that ran the training loop
//   known.facts_of(file, "1201")->name      // a worker, whichever file names it
//
// The main process of a file is found in this order:
//
// 1. the process that is labelled CPU, or that Composer marked with the rank;
// 2. else the process with most events that are not of a GPU. Events are counted over all files of
//    the rank that have none of those marks, so that two processes do not change places from file
//    to file.
//
// Main processes with other pids in other files of the rank are one process with it (Composer
// writes the rank as pid, a restarted job has another pid), unless they have threads of one tid:
// two processes that both have a thread 1 stay two.
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

// A file of several ranks takes no part in this; only its own facts count for it.
class RankProcesses {
 public:
  // `surveys` and `ranks` must outlive this object.
  RankProcesses(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks);

  bool is_main(std::size_t file, const std::string& pid) const { return main_[file] == pid; }
  // For the file's main process, returns what the file itself says. For another process, returns
  // what the first file of the rank that mentions it says, or nullptr if none does.
  const ProcessFacts* facts_of(std::size_t file, const std::string& pid) const;

 private:
  void find_main(std::int64_t rank, const std::vector<std::size_t>& files);

  const std::vector<FileSurvey>& surveys_;
  const std::vector<FileRank>& ranks_;
  std::vector<std::optional<std::string>> main_;  // one a file
  // Keys: rank, pid.
  std::map<std::int64_t, std::map<std::string, const ProcessFacts*>> beside_main_;
};

}  // namespace traceloom
