// Which rank is each input? One rule for all commands.
//
//   std::vector<FileRank> ranks = assign_ranks(inputs, evidence);
//   ranks[0].rank, to_string(ranks[0].source)
#pragma once

#include "base/problems.h"
#include "identity/evidence/file_evidence.h"
#include "identity/ranks/rank_source.h"
#include "input/input_list.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

struct FileRank {
  std::int64_t rank = 0;  // of a merged file: its lowest
  RankSource source = RankSource::position;
  // Only for a merged file: canonical pid -> rank. Pids that are not in it count as the rank they
  // are, when they are numbers.
  std::map<std::string, std::int64_t, std::less<>> rank_of_pid;
  // Composer's merger takes what it has merged before for a file of one rank. Threads of such a pid
  // whose global_rank names another one: canonical pid and tid -> rank.
  std::map<std::pair<std::string, std::string>, std::int64_t> rank_of_thread;
  ProblemCounts problems;  // rank_from_position, rank_disagrees, ranks_in_one_pid

  bool is_merged() const { return source == RankSource::merged; }
  // Those that it names, ascending.
  std::vector<std::int64_t> ranks() const;
  // The rank of what has that canonical pid, and no thread of its own.
  std::int64_t rank_of(std::string_view canonical_pid) const;
  // The rank of a thread.
  std::int64_t rank_of(std::string_view canonical_pid, std::string_view canonical_tid) const;
};

// One FileRank an input. A file that names several ranks, or that a merge of ours has written, is
// merged, unless RANK=path says that all of it is one rank. Throws Error when the strongest source
// of a file gives no rank in 0 .. kMaxRank (Composer writes -1 before it knows its rank): name the
// rank with RANK=path. A weaker source that says something else is counted as rank_disagrees, but
// for an argument, which is there to overrule.
std::vector<FileRank> assign_ranks(const std::vector<Input>& inputs,
                                   const std::vector<FileEvidence>& evidence);

}  // namespace traceloom
