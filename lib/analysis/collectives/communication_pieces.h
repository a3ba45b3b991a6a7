// The pieces of communication of one rank, their bytes, and the two ranks of each send or receive.
#pragma once

#include "analysis/collectives/collectives.h"
#include "run/run.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// tensor_bytes: computes the bytes of tensors from the fields of torch's traces.
//
//   tensor_bytes("[[2, 3], []]", R"(["float", "Scalar"])")     // 24

// Returns the bytes of `elements` of that type; 0 (not known) if the type is unknown or the product
// is no size.
std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype);

// Returns the bytes of all tensors among the arguments of an operator: "Input Dims" and "Input
// type", two lists with one element an argument. "[]" is a number and no tensor, "[[2], [3]]" is
// several tensors of one type. It returns 0 (not known) if the lists are cut, do not match, or
// contain something that is no size, because a partial sum would be wrong.
std::int64_t tensor_bytes(std::string_view dims, std::string_view types);

// Counts only the argument with that number, by the same rules; 0 if there is none.
std::int64_t argument_bytes(std::string_view dims, std::string_view types, std::size_t argument);

// find_communication: the pieces of communication of one rank, with the details in their events and
// in the range of the host that launched them.
//
//   for (const CommunicationPiece& piece : find_communication(run, rank)) use(piece.what.name);

struct MessageEnds {
  std::int64_t from = kNoId;
  std::int64_t to = kNoId;

  friend auto operator<=>(const MessageEnds&, const MessageEnds&) = default;
};

struct CommunicationPiece {
  Collective what;  // the collective, with this part alone
  std::int64_t seq = kNoId;
  std::int64_t start_ns = 0;
  // The type and bytes that separate pieces of one kind, from the piece itself. The details of its
  // range may be known on some ranks only.
  std::string own_dtype = {};
  std::int64_t own_bytes = 0;
  // The other rank of a send or a receive, as in the event: by its number among all ranks, or in
  // the group.
  std::optional<std::int64_t> peer = {};
  // Its range launched other pieces, too, so their shares of its bytes are not known.
  bool shares_range = false;
  bool has_unclear_count = false;  // its event has a count that does not give its bytes
  // Number in Run::details of the text to which the names of the group belong.
  std::uint32_t detail = kNoDetail;

  // For other processes, without the group: see team/wire.h.
  auto wired() {
    return std::tie(what.name, what.dtype, what.bytes, what.group_size, what.parts,
                    what.shortest_ns, what.bytes_are_input, what.bytes_are_part,
                    what.is_launch_only, seq, start_ns, own_dtype, own_bytes, peer, shares_range,
                    has_unclear_count, detail);
  }
};

// Returns a kernel of communication with the details in its event.
CommunicationPiece device_piece(const Run& run, std::size_t rank, const DeviceSpan& span);

// Returns the group that a text of Run::details names; its texts are views into the run.
ProcessGroup group_at(const Run& run, std::uint32_t detail);

// Sorted by start; `rank` is an index into Run::ranks. The pieces are kernels of communication. If
// there are none, they are ranges of the host: gloo works there, while NCCL's ranges only start the
// device's work.
std::vector<CommunicationPiece> find_communication(const Run& run, std::size_t rank);

// Calls use(rank, pieces) for all ranks, in their order, on all processes of a team.
void for_each_communication(
    const Run& run,
    const std::function<void(std::size_t rank, std::vector<CommunicationPiece> pieces)>& use);

// MessageRanks: finds the two ranks of a send or a receive.
//
//   MessageRanks messages(run);
//   if (const auto ends = messages.ends_of(piece, rank)) use(ends->from, ends->to);

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
