// RankExchanges: the times in which data move on a rank, and in which it waits for others to come.
//
//   const std::vector<RankExchanges> all = find_exchanges(run, lacks_ranks);
//   use(all[rank].messages.waits);
//
// Data move when both ends of a message are there, or all ranks of a collective: in the last part
// of each piece. No clocks are compared.
#pragma once

#include "analysis/collectives/collectives.h"
#include "run/intervals.h"
#include "run/run.h"

#include <cstddef>
#include <vector>

namespace traceloom {

struct ExchangeTimes {
  Intervals waits;
  Intervals moves;
  Intervals unknown;  // in pieces that may wait for ranks that are not here, or not known
};

struct RankExchanges {
  ExchangeTimes collectives;
  ExchangeTimes messages;
  Intervals alone;  // in collectives that no other rank has, though their group has further ranks
  std::size_t sent = 0;  // messages with both ends
  std::size_t received = 0;
};

// Has one entry for each rank of the run. `lacks_ranks`: the job has more ranks than the run. Uses
// match_collectives().
std::vector<RankExchanges> find_exchanges(const Run& run, bool lacks_ranks);

}  // namespace traceloom
