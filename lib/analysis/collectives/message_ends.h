// MessageRanks: from which rank to which other one a send or a receive goes.
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

// Events name the other rank by its number among all, or by its place in the group, and do not say
// which. In a group in which any event names a number that is not in it, or the rank itself, it is
// the place.
class MessageRanks {
 public:
  // `run` must outlive it.
  explicit MessageRanks(const Run& run);

  // `rank`: whose the piece is. nullopt for what is no message, and where the other rank is not
  // told, or which ranks are in the group.
  std::optional<MessageEnds> ends_of(const CommunicationPiece& piece, std::int64_t rank) const;

 private:
  std::int64_t ranks_ = 0;           // of the run
  std::set<ProcessGroup> by_place_;  // groups in which peers are places
};

}  // namespace traceloom
