// Collectives and messages, matched between ranks, and the time of each rank in them.
#pragma once

#include "run/run.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// match_collectives: finds the pieces of communication on different ranks that are the same
// collective.
//
//   for (const Collective& all_reduce : match_collectives(run).matched)
//   use(all_reduce.latency_ns());
//
// Pieces are matched by these rules:
// 1. By process group, Seq and name, if the events have them.
// 2. Otherwise the n-th piece of a rank with a certain group, name and size matches the n-th of all
//    other ranks.
// 3. If the numbers of such pieces differ between ranks, or the operators that launched them show
//    that the n-th pieces move other tensors, they are counted separately in each step and for each
//    type (for all-reduces also each size). So a piece that a rank lost shifts only similar pieces
//    in the same step. The pieces that are then left over are counted.
// 4. The n-th message that one rank sends to another in a group is the n-th that the other receives
//    from it. A kernel of a batch ("coalesced") that names no peer is taken to send to a neighbour
//    in its group and to receive from the same one (messages.h).

// torch's split_group gives several groups of a rank's peers one name: only all three members
// together identify a group. They are views into Run::details, which must outlive them.
struct ProcessGroup {
  std::string_view name;
  std::string_view description;
  std::string_view ranks;  // "[2, 3]", as in the event

  bool empty() const { return name.empty() && description.empty() && ranks.empty(); }
  friend auto operator<=>(const ProcessGroup&, const ProcessGroup&) = default;
};

struct CollectivePart {
  std::size_t rank;  // index into Run::ranks
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct Collective {
  std::string name;   // "allreduce", "ncclDevKernel_SendRecv", "gloo:all_reduce"
  std::string dtype;  // dtype in the event; empty if it has none
  ProcessGroup group;
  // Bytes of one rank: the input, or the output of a gather; 0: not known.
  std::int64_t bytes = 0;
  std::int64_t group_size = 0;        // size in the event, otherwise the number of parts
  std::vector<CollectivePart> parts;  // sorted by rank; see add()
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();  // of the parts
  bool complete = true;  // all known ranks of the group have a part
  // For one end of a message whose other end is known: the time in which data moved, after both
  // were there.
  std::optional<std::int64_t> transfer_ns = {};
  // The bytes are those of the operator's arguments, as far as these are complete.
  bool bytes_are_input = false;
  // The bytes are those of one rank's part of what is gathered or scattered, until the number of
  // ranks is known.
  bool bytes_are_part = false;
  // The parts are ranges of the host that only started the collective, so they last as long as the
  // calls.
  bool is_launch_only = false;
  // It is one end of a message that goes through a buffer (Message::is_eager).
  bool is_eager = false;
  // For sends and receives: the label of the computing that was launched before, whose result a
  // send may carry; and the correlation of their launch, which ascends on a rank.
  std::uint32_t after_label = kNoLabel;
  std::int64_t launch = kNoId;

  void add(const CollectivePart& part) {
    parts.push_back(part);
    shortest_ns = std::min(shortest_ns, part.end_ns - part.start_ns);
  }
  // False if one rank sends or receives all data: ranks that only send may leave before others
  // come.
  bool all_wait_for_all() const;

  // Returns the time after all ranks had come: the shortest of the parts, since all leave together.
  // For a message whose other end is not known it is the whole time, including waiting.
  std::int64_t latency_ns() const { return transfer_ns.value_or(shortest_ns); }
  // Returns how long a part waited for the last rank to come.
  std::int64_t wait_ns(const CollectivePart& part) const {
    return part.end_ns - part.start_ns - latency_ns();
  }
  // These three use the common clock.
  std::int64_t first_end_ns() const;
  std::int64_t skew_in_ns() const;
  std::int64_t skew_out_ns() const;
  // Return the part that came last, or first: by starts on a common clock, otherwise by the time
  // spent.
  const CollectivePart& last(bool common_clock) const;
  const CollectivePart& first(bool common_clock) const;

  // Returns the number of ranks of the group, as far as the events or the other parts show it; 0 if
  // not known.
  std::int64_t known_ranks() const;
  // Return 1e9 bytes a second; 0 if the bytes or their time are not known. The bus bandwidth is
  // also 0 if it depends on the number of ranks and that is not known.
  double algo_gbps() const;
  double bus_gbps() const;
};

// The way of a message through a pipeline: activations go forward, gradients backward.
enum class MessageWay : std::uint8_t { unknown, forward, backward };

// Both ends of a message: of separate sends and receives, and of those in one batched kernel.
struct Message {
  ProcessGroup group;
  std::int64_t from = kNoId;  // global rank
  std::int64_t to = kNoId;
  CollectivePart sent;
  CollectivePart received;
  std::int64_t bytes = 0;        // 0: not known
  std::int64_t transfer_ns = 0;  // the time in which data moved, after both were there
  // No event names both ends: they follow from the order of the messages.
  bool is_inferred = false;
  // The sender went on before the receiver came, so only the receiver waits.
  bool is_eager = false;
  MessageWay way = MessageWay::unknown;
  std::uint32_t after_label = kNoLabel;  // of the sending end, as in Collective
  std::int64_t sent_launch = kNoId;
  std::int64_t received_launch = kNoId;
};

// How many parts are special.
struct PartCounts {
  std::uint64_t by_operator = 0;     // their bytes come from the operator that launched them
  std::uint64_t unclear_counts = 0;  // without bytes because their count is not understood
  std::uint64_t sharing = 0;         // without bytes because several share one operator
  std::uint64_t launch_only = 0;     // they are only their launch
  std::uint64_t eager = 0;           // ends of messages that go through a buffer
};

struct MatchedCollectives : PartCounts {
  std::vector<Collective> matched;  // collectives of at least two ranks, by the time of the first
                                    // part
  std::vector<Collective> single;   // pieces of one rank: without a match, sends and receives
  std::vector<Message> messages;    // sends whose receive is known, by the begin of the send
  std::uint64_t left_over = 0;      // parts without a match on another rank of the group
  std::uint64_t lone_messages = 0;  // sends and receives whose other end is not known
};

// The run keeps them (RunMemo).
const MatchedCollectives& match_collectives(const Run& run);

// find_comm_times: the time of each rank in collectives, and the part of it in which data moved, as
// tb_plugin shows it.
//
//   for (const CommTimes& times : find_comm_times(match_collectives(run).matched)) use(times);

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

// The pieces of communication of one rank, their bytes, and the two ranks of each send or receive.

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
                    what.is_launch_only, what.after_label, what.launch, seq, start_ns, own_dtype,
                    own_bytes, peer, shares_range, has_unclear_count, detail);
  }
};

// Returns a kernel of communication with the details in its event.
CommunicationPiece device_piece(const Run& run, std::size_t rank, const DeviceSpan& span);

// Returns the group that a text of Run::details names; its texts are views into the run.
ProcessGroup group_at(const Run& run, std::uint32_t detail);

// Parses the ranks of a group, "[2, 3]"; returns nothing if the list is cut ("[0, 1, ..., 9]") or
// missing.
std::vector<std::int64_t> ranks_in(std::string_view list);

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
