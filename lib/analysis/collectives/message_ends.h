// MessageRanks: finds the two ranks of a send or a receive.
//
//   MessageRanks messages(run);
//   if (const auto ends = messages.ends_of(piece, rank)) use(ends->from, ends->to);
#pragma once

#include "analysis/collectives/communication_pieces.h"
#include "run/run.h"

#include <cstdint>
#include <optional>
#include <set>

namespace traceloom {

// Events name the other rank by its number among all ranks or by its place in the group, without
// saying which. It is the place if any event of the group names a number that is not in the group,
// or the rank itself.
class MessageRanks {
 public:
  // `run` must outlive it.
  explicit MessageRanks(const Run& run);

  // `rank` is the rank of the piece. Returns nullopt if the piece is no message, or if the other
  // rank or the members of the group are not known.
  std::optional<MessageEnds> ends_of(const CommunicationPiece& piece, std::int64_t rank) const;

 private:
  std::int64_t ranks_ = 0;           // number of ranks in the run
  std::set<ProcessGroup> by_place_;  // groups in which peers are places
};

}  // namespace traceloom
