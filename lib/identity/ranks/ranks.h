// The rank of each input, and what said so.
#pragma once

#include "base/problems.h"
#include "identity/evidence/file_reading.h"
#include "identity/ranks/rank_source.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// Ranks become pids, which viewers store in 32 bits.
inline constexpr std::int64_t kMaxRank = 2'147'483'647;

// Returns the name of a file without its rank ("rank3", otherwise "worker3"), without its endings
// (.gz, .zst, .json, .trace, .pt, .log) and without time stamps (10 digits or more, which differ
// between the ranks of one cycle); may be empty:
//   "traces/ep0-ba12-rank3.json.gz"                      "ep0-ba12"
//   "rank0.4.pt.trace.json"                              "4"
//   "worker0_step_12.1694128201545.pt.trace.json.gz"     "step_12"
//   "rank3.json"                                         ""
std::string cycle_of_name(const std::string& path);

// assign_ranks: finds the rank of each input, by one rule for all commands.
//
//   std::vector<FileRank> ranks = assign_ranks(files);
//   ranks[0].rank, to_string(ranks[0].source)

struct FileRank {
  std::int64_t rank = 0;  // for a merged file: its lowest rank
  RankSource source = RankSource::position;
  // Only for a merged file: maps canonical pids to ranks. A pid that is missing here and is a
  // number is itself the rank.
  std::map<std::string, std::int64_t, std::less<>> rank_of_pid;
  // Maps canonical pid and tid to the rank. Composer's merger treats an earlier merge as a file of
  // one rank, so a pid may contain threads whose global_rank names another rank.
  std::map<std::pair<std::string, std::string>, std::int64_t> rank_of_thread;
  std::string cycle;                       // the name without the rank; see cycle_of_name()
  std::optional<std::int64_t> world_size;  // distributedInfo.world_size, otherwise of "rank3of4"
  ProblemCounts problems;                  // rank_from_position, rank_disagrees, ranks_in_one_pid

  // True if the events of several ranks are in the file.
  bool is_merged() const { return source == RankSource::merged || source == RankSource::rows; }
  // Returns the ranks that the file names, ascending.
  std::vector<std::int64_t> ranks() const;
  // Returns the rank of events that have this canonical pid but no tid.
  std::int64_t rank_of(std::string_view canonical_pid) const;
  // Returns the rank of a thread.
  std::int64_t rank_of(std::string_view canonical_pid, std::string_view canonical_tid) const;
};

// Returns the rank that the file itself says, by its strongest source, whether it is one or not.
std::optional<std::int64_t> said_rank(const FileEvidence& evidence);

// Returns one FileRank an input. A file that names several ranks (a coarse time line does), or that
// a merge of ours wrote, is merged, unless RANK=path declares all of it to be one rank. Throws
// Error if the strongest source of a file gives no rank in 0 .. kMaxRank (Composer writes -1 before
// it knows its rank); RANK= can then name the rank. A weaker source that disagrees is counted as
// rank_disagrees, unless the strongest source is an argument, which is meant to overrule.
//
// A name gives a rank by these rules:
// 1. The number after the last word "rank" of the file's name, with at most one separator between
//    them: "ep1-ba42-rank3.json", "Rank[3]". A rank within a part of the job is none: "local_rank".
// 2. The same in the name of the nearest folder, if the folders of the inputs name several ranks.
// 3. For files without any other source: a number that stands alone or after a word for a process
//    or a device, in the files' names or in their folders: "worker3", "TP-3", "trace_3", "3.json",
//    "3_of_4". All these files must have it at the same place of names that are equal otherwise,
//    but for time stamps. The numbers must differ, have 0 among them and be less than twice as many
//    as the files (or than the size of the world).
std::vector<FileRank> assign_ranks(const std::vector<InputReading>& files);

// Returns the ranks that names give by these rules, for files of which nothing else is known.
std::vector<std::optional<std::int64_t>> ranks_in_names(const std::vector<std::string>& paths);

}  // namespace traceloom
