#include "analysis/replay/network.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace traceloom {
namespace {

constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
// A blocking call waits for one of so many pieces that were launched before it.
constexpr std::size_t kMostBehind = 256;

// An edge while the network is being made.
struct LooseEdge {
  std::uint32_t to = 0;
  NetworkEdge edge;
};

struct OpenMeeting {
  std::vector<std::uint32_t> arrivals = {};  // nodes
  std::vector<std::uint32_t> waiting = {};   // nodes that leave with it
  std::uint32_t sender = kNoNode;            // the arrival of the sender of an eager message
};

// So much communication at most is held at once: what nobody waits for would stay for ever.
constexpr std::size_t kMostHeld = 64;

void hold_until_end(const LaunchedPiece& piece, std::uint32_t node, std::vector<HeldEnd>& held,
                    LaunchCounts& launched) {
  if (held.size() == kMostHeld) held.erase(held.begin());
  held.push_back({piece.end_ns, node, piece.stream, piece.label,
                  launched.communication[piece.label]++, launched.computed});
}

// Makes the nodes and edges of one rank.
class RankBuilder {
 public:
  RankBuilder(const JobWork& job, const JobStep& step, std::uint32_t rank, std::uint32_t first_slot,
              NetworkState& state, StepNetwork& network, std::vector<LooseEdge>& edges,
              std::map<std::uint32_t, OpenMeeting>& meetings, std::vector<std::uint32_t>& places,
              const WaitOrder& order)
      : job_(job),
        order_(order),
        work_(job.ranks[rank]),
        times_(step.of_rank[rank]),
        until_ns_(step.launches_end_ns[rank]),
        rank_(rank),
        slot_(first_slot),
        state_(state),
        network_(network),
        edges_(edges),
        meetings_(meetings),
        places_(places) {}

  void build(bool is_first) {
    begin(is_first);
    while (take_next()) {
    }
    end();
  }

 private:
  struct HostNode {
    std::int64_t at_ns;
    std::uint32_t node;
  };

  std::uint32_t add(MomentKind kind, std::int64_t at_ns, std::int64_t duration_ns,
                    std::uint32_t label = 0) {
    NetworkNode node{kind, rank_, label};
    if (kind == MomentKind::compute || kind == MomentKind::copy || kind == MomentKind::lone) {
      if (places_.size() <= label) places_.resize(label + 1);
      node.place = places_[label]++;
    }
    node.duration_ns = duration_ns;
    node.at_ns = at_ns;
    network_.nodes.push_back(node);
    return static_cast<std::uint32_t>(network_.nodes.size() - 1);
  }
  void connect(std::uint32_t from, std::uint32_t to, std::int64_t lag_ns = 0) {
    edges_.push_back({to, {from, lag_ns}});
  }
  std::uint32_t add_start(std::uint32_t slot, std::int64_t at_ns) {
    const std::uint32_t node = add(MomentKind::start, at_ns, 0);
    network_.nodes[node].place = slot_ + slot;
    network_.starts.push_back({slot_ + slot, node});
    return node;
  }

  void begin(bool is_first) {
    const std::int64_t from_ns = std::min(times_.time.from_ns, times_.host.from_ns);
    if (is_first) {
      state_ = {};
      state_.streams.resize(work_.streams);
      const auto launched = [](const LaunchedPiece& piece) { return piece.launched_ns(); };
      state_.piece = static_cast<std::size_t>(
          std::ranges::lower_bound(work_.pieces, from_ns, {}, launched) - work_.pieces.begin());
      while (state_.block < work_.blocks.size() &&
             work_.blocks[state_.block].time.from_ns < from_ns)
        ++state_.block;
      while (state_.loader < work_.loaders.size() && work_.loaders[state_.loader].from_ns < from_ns)
        ++state_.loader;
      const std::uint32_t start = add(MomentKind::start, times_.time.from_ns, 0);
      network_.begins.push_back(start);
      // The host may begin a step before the devices have ended the one before.
      host_.push_back({from_ns, add(MomentKind::start, from_ns, 0)});
      return;
    }
    host_.push_back({state_.host_ns, add_start(0, state_.host_ns)});
    network_.begins.push_back(add_start(1, times_.time.from_ns));
    for (std::uint32_t i = 0; i < state_.streams.size(); ++i)
      if (state_.streams[i].exists)
        state_.streams[i].node = add_start(2 + i, state_.streams[i].end_ns);
    for (HeldEnd& held : state_.held) held.node = state_.streams[held.stream].node;
  }

  // Takes the launch, blocking call or wait for data that begins first.
  bool take_next() {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    const std::int64_t piece_ns =
        state_.piece < work_.pieces.size() ? work_.pieces[state_.piece].launched_ns() : kNever;
    const std::int64_t block_ns =
        state_.block < work_.blocks.size() ? work_.blocks[state_.block].time.from_ns : kNever;
    const std::int64_t loader_ns =
        state_.loader < work_.loaders.size() ? work_.loaders[state_.loader].from_ns : kNever;
    const std::int64_t next_ns = std::min({piece_ns, block_ns, loader_ns});
    if (next_ns >= until_ns_) return false;
    if (next_ns == piece_ns)
      take(work_.pieces[state_.piece++]);
    else if (next_ns == loader_ns)
      take(work_.loaders[state_.loader++]);
    else
      take(work_.blocks[state_.block++]);
    return true;
  }

  // Returns the host's last moment that is not after `ns`, and its time.
  HostNode host_before(std::int64_t ns) const {
    for (std::size_t i = host_.size(); i-- > 1;)
      if (host_[i].at_ns <= ns) return host_[i];
    return host_.front();
  }
  // Returns the moment in which the host is at `ns`.
  std::uint32_t host_at(std::int64_t ns) {
    const HostNode before = host_before(ns);
    if (before.at_ns == ns) return before.node;
    const std::uint32_t node =
        add(MomentKind::host, ns, std::max<std::int64_t>(ns - before.at_ns, 0));
    connect(before.node, node);
    const auto last = std::ranges::max_element(state_.streams, {}, &StreamEnd::end_ns);
    // The host did nothing that was recorded, and goes on just when the devices have ended: it
    // waited for them, in a call that was not recorded as one that blocks.
    if (last != state_.streams.end() && last->exists && last->end_ns > before.at_ns + kSoon &&
        last->end_ns <= ns && ns - last->end_ns <= kSoon) {
      network_.nodes[node].duration_ns = ns - last->end_ns;
      for (const StreamEnd& stream : state_.streams)
        if (stream.exists) connect(stream.node, node);
    }
    append_host({ns, node});
    return node;
  }
  void append_host(HostNode node) {
    host_.push_back(node);
    for (std::size_t i = host_.size() - 1; i > 0 && host_[i - 1].at_ns > host_[i].at_ns; --i)
      std::swap(host_[i - 1], host_[i]);
  }

  void take(const Interval& loader) {
    const std::uint32_t from = host_at(loader.from_ns);
    const std::uint32_t node = add(MomentKind::loader, loader.to_ns, loader.to_ns - loader.from_ns);
    network_.nodes[node].place = loaders_++;
    connect(from, node);
    append_host({loader.to_ns, node});
  }

  void take(const BlockingCall& call) {
    const std::uint32_t from = host_at(call.time.from_ns);
    const std::uint32_t node = add(MomentKind::blocked, call.time.to_ns, 0);
    connect(from, node);
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    std::vector<std::uint32_t> awaited;
    if (call.whole_device) {
      for (const StreamEnd& stream : state_.streams)
        if (stream.exists && stream.end_ns <= call.time.to_ns) {
          awaited.push_back(stream.node);
          last_ns = std::max(last_ns, stream.end_ns);
        }
    } else {
      std::uint32_t last = kNoNode;
      for (std::size_t i = recent_.size(); i-- > 0 && i + kMostBehind > recent_.size();)
        if (recent_[i].end_ns > call.time.from_ns && recent_[i].end_ns <= call.time.to_ns &&
            recent_[i].end_ns > last_ns)
          std::tie(last_ns, last) = std::pair(recent_[i].end_ns, recent_[i].node);
      if (last != kNoNode) awaited.push_back(last);
    }
    const bool has_waited = last_ns > call.time.from_ns;
    const std::int64_t tail_ns = has_waited ? call.time.to_ns - last_ns : 0;
    for (const std::uint32_t end : awaited) connect(end, node, tail_ns);
    if (!has_waited) network_.nodes[node].duration_ns = call.time.to_ns - call.time.from_ns;
    append_host({call.time.to_ns, node});
  }

  // Makes the edges to a piece, and returns the latest of them.
  class Reasons {
   public:
    Reasons(RankBuilder& of, std::int64_t start_ns) : of_(of), start_ns_(start_ns) {}
    // What ended after the piece began did not hold it up.
    bool add(std::uint32_t node, std::int64_t at_ns, std::int64_t lag_ns = 0) {
      if (at_ns > start_ns_) return false;
      lag_ns = std::min(lag_ns, start_ns_ - at_ns);
      edges_.push_back({node, lag_ns});
      latest_ns_ = std::max(latest_ns_, at_ns + lag_ns);
      return true;
    }
    std::int64_t unexplained_ns() const { return start_ns_ - latest_ns_; }
    // Connects them with the node, which keeps the rest.
    void finish(std::uint32_t node) {
      for (const NetworkEdge& edge : edges_) of_.connect(edge.from, node, edge.lag_ns);
      of_.network_.nodes[node].kept_ns = edges_.empty() ? 0 : unexplained_ns();
    }
    bool empty() const { return edges_.empty(); }

   private:
    RankBuilder& of_;
    std::int64_t start_ns_;
    std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
    std::vector<NetworkEdge> edges_ = {};
  };

  void take(const LaunchedPiece& piece) {
    Reasons reasons(*this, piece.start_ns);
    if (piece.call_ns != kNotGiven)
      reasons.add(host_at(piece.call_ns), piece.call_ns, work_.latency_ns);
    StreamEnd& stream = state_.streams[piece.stream];
    if (stream.exists) reasons.add(stream.node, stream.end_ns);
    if (piece.kind == PieceKind::communication)
      hold_communication(piece, reasons);
    else if (piece.kind == PieceKind::compute && piece.stream == work_.main_stream)
      wait_for_held(piece, reasons);
    if (reasons.empty() || reasons.unexplained_ns() > kSoon) wait_for_streams(piece, reasons);
    if (reasons.empty())
      reasons.add(network_.begins.back(), std::min(piece.start_ns, times_.time.from_ns));
    stream.exists = true;
    stream.end_ns = piece.end_ns;
    stream.holds = false;
    stream.node = piece.kind == PieceKind::communication ? communicate(piece, reasons)
                                                         : compute(piece, reasons);
    recent_.push_back({piece.end_ns, stream.node});
  }

  std::uint32_t compute(const LaunchedPiece& piece, Reasons& reasons) {
    const std::uint32_t node =
        add(piece.kind == PieceKind::compute ? MomentKind::compute : MomentKind::copy, piece.end_ns,
            piece.end_ns - piece.start_ns, piece.label);
    reasons.finish(node);
    if (piece.kind == PieceKind::compute) state_.computing = piece.stream;
    return node;
  }

  std::uint32_t communicate(const LaunchedPiece& piece, Reasons& reasons) {
    if (piece.parts == 0) {
      const std::uint32_t node =
          add(MomentKind::lone, piece.end_ns, piece.end_ns - piece.start_ns, piece.label);
      reasons.finish(node);
      hold(piece, node, true);
      return node;
    }
    const std::uint32_t arrival = add(MomentKind::arrival, piece.start_ns, 0, piece.label);
    reasons.finish(arrival);
    const std::uint32_t leaving = add(MomentKind::leaving, piece.end_ns, 0, piece.label);
    bool receives = false;
    for (const MeetingPart& part : job_.parts_of(rank_, piece)) {
      OpenMeeting& open = meetings_[part.meeting];
      const Meeting& meeting = job_.meetings[part.meeting];
      receives |= !part.sends;
      open.arrivals.push_back(arrival);
      if (part.sends && meeting.is_eager) {
        open.sender = arrival;
        network_.nodes[leaving].duration_ns = piece.end_ns - piece.start_ns;
        network_.nodes[leaving].place = part.meeting;
      } else {
        open.waiting.push_back(leaving);
      }
      if (part.sends || meeting.copy_ns == 0) continue;
      const std::uint32_t copied =
          add(MomentKind::leaving, piece.start_ns + meeting.copy_ns, meeting.copy_ns);
      network_.nodes[copied].place = part.meeting;
      connect(arrival, copied);
      connect(copied, leaving);
    }
    connect(arrival, leaving);
    hold(piece, leaving, receives);
    return leaving;
  }
  void hold(const LaunchedPiece& piece, std::uint32_t node, bool holds) {
    if (!holds) return;
    state_.streams[piece.stream].holds = true;
    hold_until_end(piece, node, state_.held, state_.launched);
  }

  void hold_communication(const LaunchedPiece& piece, Reasons& reasons) {
    if (state_.computing) {
      const StreamEnd& computing = state_.streams[*state_.computing];
      reasons.add(computing.node, computing.end_ns);
    }
    for (const StreamEnd& stream : state_.streams)
      if (stream.holds && piece.start_ns - stream.end_ns <= kSoon)
        reasons.add(stream.node, stream.end_ns);
  }
  // Work that began just when communication had ended, and has no later reason, waited for it, too.
  void wait_for_held(const LaunchedPiece& piece, Reasons& reasons) {
    std::erase_if(state_.held, [&](const HeldEnd& held) {
      return order_.may_wait(piece.label, held, state_.launched) &&
             reasons.add(held.node, held.end_ns);
    });
    std::erase_if(state_.held, [&](const HeldEnd& held) {
      const std::int64_t since_ns = piece.start_ns - held.end_ns;
      return since_ns <= kSoon && (reasons.empty() || since_ns < reasons.unexplained_ns()) &&
             reasons.add(held.node, held.end_ns);
    });
    ++state_.launched.computed;
  }
  void wait_for_streams(const LaunchedPiece& piece, Reasons& reasons) {
    for (const StreamEnd& stream : state_.streams)
      if (stream.exists && piece.start_ns - stream.end_ns <= kSoon)
        reasons.add(stream.node, stream.end_ns);
  }

  void end() {
    const std::int64_t to_ns = times_.time.to_ns;
    std::int64_t latest_ns = std::min(std::max(times_.host.to_ns, host_.front().at_ns), to_ns);
    const std::uint32_t host = host_at(latest_ns);
    const std::uint32_t node = add(MomentKind::end, to_ns, 0);
    connect(host, node);
    for (const StreamEnd& stream : state_.streams)
      if (stream.exists && stream.end_ns <= to_ns) {
        connect(stream.node, node);
        latest_ns = std::max(latest_ns, stream.end_ns);
      }
    network_.nodes[node].duration_ns = to_ns - latest_ns;
    network_.ends.push_back(node);
    state_.host_ns = host_.back().at_ns;
    network_.last.push_back({slot_, host_.back().node});
    network_.last.push_back({slot_ + 1, node});
    for (std::uint32_t i = 0; i < state_.streams.size(); ++i)
      if (state_.streams[i].exists)
        network_.last.push_back({slot_ + 2 + i, state_.streams[i].node});
  }

  struct RecentEnd {
    std::int64_t end_ns;
    std::uint32_t node;
  };

  const JobWork& job_;
  const WaitOrder& order_;
  const RankWork& work_;
  const Step& times_;
  std::int64_t until_ns_;
  std::uint32_t rank_;
  std::uint32_t slot_;
  NetworkState& state_;
  StepNetwork& network_;
  std::vector<LooseEdge>& edges_;
  std::map<std::uint32_t, OpenMeeting>& meetings_;
  std::vector<std::uint32_t>& places_;
  std::vector<HostNode> host_ = {};  // by time
  std::vector<RecentEnd> recent_ = {};
  std::uint32_t loaders_ = 0;
};

// Adds the node of a meeting. Without all of its ranks in the step, each leaves after its own time.
void add_meeting(const JobWork& job, std::uint32_t number, const OpenMeeting& open,
                 StepNetwork& network, std::vector<LooseEdge>& edges) {
  const Meeting& meeting = job.meetings[number];
  std::vector<NetworkNode>& nodes = network.nodes;
  if (open.arrivals.size() != meeting.parts) {
    for (const std::uint32_t leaving : open.waiting) {
      // A leaving node follows its arrival; copies follow both.
      nodes[leaving].kind = MomentKind::lone;
      nodes[leaving].duration_ns = nodes[leaving].at_ns - nodes[leaving - 1].at_ns;
    }
    return;
  }
  NetworkNode node{MomentKind::meeting, nodes[open.arrivals.front()].rank, 0, number};
  node.duration_ns = meeting.transfer_ns;
  const auto to = static_cast<std::uint32_t>(nodes.size());
  for (const std::uint32_t arrival : open.arrivals) {
    node.at_ns = std::max(node.at_ns, nodes[arrival].at_ns + meeting.transfer_ns);
    if (!meeting.is_eager || arrival == open.sender) edges.push_back({to, {arrival, 0}});
  }
  for (const std::uint32_t leaving : open.waiting) edges.push_back({leaving, {to, 0}});
  nodes.push_back(node);
}

void sort_edges(const std::vector<LooseEdge>& loose, StepNetwork& network) {
  network.first_edge.assign(network.nodes.size() + 1, 0);
  for (const LooseEdge& edge : loose) ++network.first_edge[edge.to + 1];
  std::partial_sum(network.first_edge.begin(), network.first_edge.end(),
                   network.first_edge.begin());
  network.edges.resize(loose.size());
  std::vector<std::uint32_t> next(network.first_edge.begin(), network.first_edge.end() - 1);
  for (const LooseEdge& edge : loose) network.edges[next[edge.to]++] = edge.edge;
}

// Finds an order in which each node comes after what it waits for.
void sort_nodes(StepNetwork& network) {
  const std::size_t count = network.nodes.size();
  std::vector<std::uint32_t> first(count + 1);
  for (const NetworkEdge& edge : network.edges) ++first[edge.from + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  std::vector<std::uint32_t> after(network.edges.size());
  std::vector<std::uint32_t> open(count);
  for (std::uint32_t to = 0; to < count; ++to) {
    open[to] = network.first_edge[to + 1] - network.first_edge[to];
    for (std::uint32_t i = network.first_edge[to]; i < network.first_edge[to + 1]; ++i)
      after[next[network.edges[i].from]++] = to;
  }
  network.order.reserve(count);
  for (std::uint32_t node = 0; node < count; ++node)
    if (open[node] == 0) network.order.push_back(node);
  for (std::size_t i = 0; i < network.order.size(); ++i) {
    const std::uint32_t node = network.order[i];
    for (std::uint32_t j = first[node]; j < first[node + 1]; ++j)
      if (--open[after[j]] == 0) network.order.push_back(after[j]);
  }
  network.is_cyclic = network.order.size() != count;
}

}  // namespace

WaitOrder::WaitOrder(const JobWork& job) {
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    std::vector<HeldEnd> held;
    LaunchCounts launched;
    for (const LaunchedPiece& piece : job.ranks[rank].pieces) {
      const auto sends = [](const MeetingPart& part) { return part.sends; };
      if (piece.kind == PieceKind::communication) {
        if (piece.parts == 0 || !std::ranges::all_of(job.parts_of(rank, piece), sends))
          hold_until_end(piece, 0, held, launched);
      } else if (piece.kind == PieceKind::compute && piece.stream == job.ranks[rank].main_stream) {
        std::erase_if(held, [&](const HeldEnd& one) {
          if (one.end_ns <= piece.start_ns) return true;
          const Pair pair(piece.label, one.label);
          disproved_.insert({pair, launched.communication[one.label] - one.number});
          std::uint32_t& most = most_computed_[pair];
          most = std::max(most, launched.computed - one.computed);
          return false;
        });
        ++launched.computed;
      }
    }
  }
}

bool WaitOrder::may_wait(std::uint32_t label, const HeldEnd& held,
                         const LaunchCounts& launched) const {
  const Pair pair(label, held.label);
  return !disproved_.contains({pair, launched.communication.at(held.label) - held.number}) ||
         launched.computed - held.computed > most_computed_.at(pair);
}

NetworkMaker::NetworkMaker(const JobWork& job) : job_(job), order_(job), states_(job.ranks.size()) {
  first_slot_.push_back(0);
  for (const RankWork& rank : job.ranks)
    first_slot_.push_back(first_slot_.back() + 2 + rank.streams);
}

StepNetwork NetworkMaker::make(const JobStep& step) {
  StepNetwork network;
  std::vector<LooseEdge> edges;
  std::map<std::uint32_t, OpenMeeting> meetings;
  for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank) {
    std::vector<std::uint32_t> places;
    network.first_of_rank.push_back(static_cast<std::uint32_t>(network.nodes.size()));
    RankBuilder(job_, step, rank, first_slot_[rank], states_[rank], network, edges, meetings,
                places, order_)
        .build(step.is_first);
  }
  network.first_of_rank.push_back(static_cast<std::uint32_t>(network.nodes.size()));
  for (const auto& [number, open] : meetings) add_meeting(job_, number, open, network, edges);
  sort_edges(edges, network);
  sort_nodes(network);
  return network;
}

}  // namespace traceloom
