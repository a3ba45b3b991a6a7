// StepNetwork: what waits for what in one step of a job, as moments that are as early as what they
// wait for allows.
//
//   NetworkMaker maker(job);
//   for (const JobStep& step : job.steps) replay.run(step, maker.make(step), changes);
//
// A moment (node) is at the latest of its edges, time of `from` + lag, plus the time it lasts
// itself. These are the edges:
// 1. The host goes from call to call with the recorded distances, threads of a rank as one. A wait
//    for data is a node of its own. A call that blocks ends after the work that it waited for.
// 2. Work begins after its call, and the least latency of its rank, and after the work before it on
//    its stream.
// 3. Communication waits for the last computation that was launched before it and had ended.
//    Another communication that had ended at most 15 us before holds it, too.
// 4. The first computation on the main stream that was launched after communication, begins after
//    its end and may wait for it (WaitOrder), does so; nobody waits for a send. Work that begins at
//    most 15 us after work of another stream, without another reason, waits for that.
// 5. A meeting (collective, message) moves data from when its last rank has come; all leave
//    together. The sender of an eager message goes on.
// 6. A step ends when its host range and its device work have ended.
// What remains of a piece's recorded begin beyond all this is kept as a part of it.
//
// The networks of consecutive steps hang together by slots: the last moments of each host and
// stream.
#pragma once

#include "analysis/replay/job_work.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace traceloom {

// Work that begins so soon (in ns) after other work may have waited for it: launches on a waiting
// stream take some us. What a piece keeps beyond it is no latency.
inline constexpr std::int64_t kSoon = 15'000;

enum class MomentKind : std::uint8_t {
  start,    // a slot of the step before, or the recorded begin of the first step
  host,     // the host's own time since the last moment
  blocked,  // the end of a blocking call
  loader,
  compute,  // a piece, at its end
  copy,
  lone,     // a piece of communication whose meeting is not known
  arrival,  // a piece of communication, at its begin
  meeting,
  leaving,  // the end of a piece in meetings, or of the copy of an eager message
  end,      // of the step
};

struct NetworkNode {
  MomentKind kind = MomentKind::start;
  std::uint32_t rank = 0;        // index into Run::ranks; of a meeting: its first one
  std::uint32_t label = 0;       // of a piece
  std::uint32_t place = 0;       // which of its label it is on its rank in this step; of a meeting:
                                 // its number in JobWork::meetings, as of a copy of its message;
                                 // of a start: its slot
  std::int64_t kept_ns = 0;      // time in front of a piece for which no edge is known
  std::int64_t duration_ns = 0;  // without it
  std::int64_t at_ns = 0;        // recorded

  // The time for which the node itself holds up what comes after it.
  std::int64_t own_ns() const { return kept_ns + duration_ns; }
};

struct NetworkEdge {
  std::uint32_t from = 0;
  std::int64_t lag_ns = 0;
};

// Moments that later steps wait for: of each rank its host, its step, and its streams.
struct SlotNode {
  std::uint32_t slot = 0;
  std::uint32_t node = 0;
};

struct StepNetwork {
  std::vector<NetworkNode> nodes;
  std::vector<std::uint32_t> first_edge;  // of each node, and the end
  std::vector<NetworkEdge> edges;
  std::vector<std::uint32_t> order;          // all nodes, each after what it waits for
  std::vector<std::uint32_t> first_of_rank;  // ranks' nodes are together; then come the meetings
  std::vector<SlotNode> starts;              // nodes of kind start that have a slot
  std::vector<SlotNode> last;                // what the slots are after the step
  std::vector<std::uint32_t> ends;           // of each rank
  std::vector<std::uint32_t> begins;         // of each rank: the end of the step before
  bool is_cyclic = false;  // pieces were matched that are not the same; it cannot be replayed
};

// The last work of a stream, and what of it still holds others.
struct StreamEnd {
  std::int64_t end_ns = 0;
  std::uint32_t node = 0;
  bool exists = false;
  bool holds = false;  // it is communication other than a send
};

// Communication that no computation has waited for yet.
struct HeldEnd {
  std::int64_t end_ns = 0;
  std::uint32_t node = 0;
  std::uint16_t stream = 0;
  std::uint32_t label = 0;
  std::uint32_t number = 0;    // among those of its label on its rank
  std::uint32_t computed = 0;  // computations that were launched before, on the main stream
};

// LaunchCounts: what a rank has launched, for WaitOrder.
struct LaunchCounts {
  std::map<std::uint32_t, std::uint32_t> communication = {};  // by label
  std::uint32_t computed = 0;                                 // on the main stream
};

// WaitOrder: which computations do not wait for communication that was launched before them.
//
// A computation is known by its label, the communication by its own, by how much of that was
// launched in between, and by how much was computed: a receive may be posted for the work after the
// next one. If somewhere, on any rank, such a computation began before such communication had
// ended, none waits for it, unless more was computed in between than anywhere there: no receive is
// posted ahead of the last work.
class WaitOrder {
 public:
  explicit WaitOrder(const JobWork& job);
  // `launched` is before the computation.
  bool may_wait(std::uint32_t label, const HeldEnd& held, const LaunchCounts& launched) const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // labels
  std::set<std::pair<Pair, std::uint32_t>> disproved_;
  std::map<Pair, std::uint32_t> most_computed_;  // of those
};

// Where a rank is after a step.
struct NetworkState {
  std::size_t piece = 0;  // the next one
  std::size_t block = 0;
  std::size_t loader = 0;
  std::int64_t host_ns = 0;
  std::vector<StreamEnd> streams = {};
  std::vector<HeldEnd> held = {};
  LaunchCounts launched = {};
  std::optional<std::uint16_t> computing = {};  // stream of the computation that was launched last
};

class NetworkMaker {
 public:
  // `job` must outlive it.
  explicit NetworkMaker(const JobWork& job);

  std::size_t slots() const { return first_slot_.back(); }
  // Makes the network of a step; steps have to be taken in their order. After the last one, or to
  // take them again, the first one may follow.
  StepNetwork make(const JobStep& step);

 private:
  const JobWork& job_;
  WaitOrder order_;
  std::vector<std::uint32_t> first_slot_;  // of each rank, and the end
  std::vector<NetworkState> states_;       // of each rank, after the last step that was made
};

}  // namespace traceloom
