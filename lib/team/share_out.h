// share_out: which files each process of a team reads.
//
//   const FileBlock own = share_out(team, {"rank0.json", "rank1.json", "rank2.json"});
//   for (std::size_t file = own.begin; file < own.end; ++file) ...
#pragma once

#include "base/file_block.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// Cuts a list into `processes` pieces of about the same weight; some may be empty. Each process has
// one piece of the list, so that results put together in the order of the processes are in the
// order of the files.
std::vector<FileBlock> cut_by_weight(const std::vector<std::uint64_t>& weights,
                                     std::size_t processes);

// Returns the block of this process. Process 0 weighs the files by their sizes; all of them call
// it. A file without a size weighs little.
FileBlock share_out(Team& team, const std::vector<std::string>& paths);

}  // namespace traceloom
