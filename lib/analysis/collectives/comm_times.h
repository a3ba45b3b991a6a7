// How long each rank was in collectives, and how much of that data moved: tb_plugin's view of them.
//
//   for (const CommTimes& times : find_comm_times(match_collectives(run).matched)) use(times);
#pragma once

#include "analysis/collectives/collectives.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct CommTimes {
  std::size_t rank = 0;  // index into Run::ranks
  std::string name;      // of the collectives; empty: of all
  std::int64_t count = 0;
  std::int64_t bytes = 0;    // together
  std::int64_t busy_ns = 0;  // instants in which one of them ran, each once
  // The same of what is left of each when all ranks have come: the last of it, as long as it took
  // on the rank that took least. The rest was waiting.
  std::int64_t transfer_ns = 0;
  bool transfer_known = true;  // not where some are no more than their launch
};

// By rank, of all together first, then by name.
std::vector<CommTimes> find_comm_times(const std::vector<Collective>& collectives);

}  // namespace traceloom
