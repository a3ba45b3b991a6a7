// Pieces of communication of one rank, with all that they say of themselves and what is known of
// them from the range of the host that launched them.
//
//   for (const CommunicationPiece& piece : find_communication(run, rank)) use(piece.what.name);
#pragma once

#include "analysis/collectives/collectives.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace traceloom {

struct MessageEnds {
  std::int64_t from = kNoId;
  std::int64_t to = kNoId;

  friend bool operator==(const MessageEnds&, const MessageEnds&) = default;
  friend bool operator<(const MessageEnds& a, const MessageEnds& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  }
};

struct CommunicationPiece {
  Collective what;  // of this part alone
  std::int64_t seq = kNoId;
  std::int64_t start_ns = 0;
  // The type and the bytes that tell pieces of one kind apart: what the piece itself says. What its
  // range says of it may be known on some ranks only.
  std::string own_dtype = {};
  std::int64_t own_bytes = 0;
  // Of a send or a receive the other rank, as the event says: by its number among all, or in the
  // group.
  std::optional<std::int64_t> peer = {};
  // Its range launched others, too: whose bytes are whose nobody knows.
  bool shares_range = false;
};

// What a kernel of communication says of itself.
CommunicationPiece device_piece(const Run& run, std::size_t rank, const DeviceSpan& span);

// By start. `rank` is an index into Run::ranks. Kernels of communication; where there are none, the
// ranges of the host: gloo works there, with NCCL they only start what the device does.
std::vector<CommunicationPiece> find_communication(const Run& run, std::size_t rank);

}  // namespace traceloom
