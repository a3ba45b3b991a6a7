// find_comm_times: the time of each rank in collectives, and the part of it in which data moved, as
// tb_plugin shows it.
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
  std::string name;      // name of the collectives; empty: all of them
  std::int64_t count = 0;
  std::int64_t bytes = 0;    // bytes of all of them together
  std::int64_t busy_ns = 0;  // instants in which at least one of them ran
  // The instants in which data moved: the last part of each collective, as long as the collective
  // took on the rank on which it took least. The rest is waiting.
  std::int64_t transfer_ns = 0;
  bool transfer_known = true;  // false if some are only their launch
};

// Sorted by rank; all collectives together come first, then each name.
std::vector<CommTimes> find_comm_times(const std::vector<Collective>& collectives);

}  // namespace traceloom
