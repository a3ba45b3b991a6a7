// Collectives: which pieces of communication on different ranks are one and the same.
//
//   for (const Collective& all_reduce : match_collectives(run).matched)
//   use(all_reduce.latency_ns());
//
// By process group, Seq and name, where the events have them; else the n-th of a rank with the same
// group, name and size is the n-th of all others. Where ranks have different numbers of those, or
// the operators that launched them say that the n-th of two ranks move other tensors, they are
// counted in each step, and of each type (of all-reduces: size, too) by itself. So one that a rank
// lost shifts no others than those like it in the same step. What is left over then is counted. The
// n-th that one rank sends to another in a group is the n-th that this one receives from it.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// torch's split_group gives several groups of a rank's peers one name: only all three together tell
// a group from others. Views into Run::details, which has to live as long.
struct ProcessGroup {
  std::string_view name;
  std::string_view description;
  std::string_view ranks;  // "[2, 3]", as the event says

  bool empty() const { return name.empty() && description.empty() && ranks.empty(); }
  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
  friend bool operator<(const ProcessGroup& a, const ProcessGroup& b) {
    return std::tie(a.name, a.description, a.ranks) < std::tie(b.name, b.description, b.ranks);
  }
};

struct CollectivePart {
  std::size_t rank;  // index into Run::ranks
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct Collective {
  std::string name;   // "allreduce", "ncclDevKernel_SendRecv", "gloo:all_reduce"
  std::string dtype;  // as the event says; empty when it does not
  ProcessGroup group;
  // Of one rank: what goes in, of a gather what comes out; 0: unknown.
  std::int64_t bytes = 0;
  std::int64_t group_size = 0;        // as the event says, else the number of parts
  std::vector<CollectivePart> parts;  // by rank
  bool complete = true;               // all ranks of which the group is known to consist have it
  // Of one end of a message whose other end is known: how long data moved, from when both were
  // there.
  std::optional<std::int64_t> transfer_ns = {};
  // Bytes are those of the tensors that an operator was called with, as far as that says all.
  bool bytes_are_input = false;
  // Its parts are ranges of the host that only started it: they last as long as the calls do.
  bool is_launch_only = false;

  // Not so where one rank sends or gets all: those that only send may be gone before others come.
  bool all_wait_for_all() const;

  // How long it took from when all had come: the shortest of the parts, since all leave together.
  // Of a message whose other end is not known all of its time, waiting too.
  std::int64_t latency_ns() const;
  // How long a part waited for the last rank to come.
  std::int64_t wait_ns(const CollectivePart& part) const {
    return part.end_ns - part.start_ns - latency_ns();
  }
  // By the common clock.
  std::int64_t first_end_ns() const;
  std::int64_t skew_in_ns() const;
  std::int64_t skew_out_ns() const;
  // The part that came last, or first: by starts on a common clock, else by the time spent.
  const CollectivePart& last(bool common_clock) const;
  const CollectivePart& first(bool common_clock) const;

  // The ranks of the group, as far as the events or the other parts tell; 0 when unknown.
  std::int64_t known_ranks() const;
  // Of 1e9 bytes a second; 0 when bytes or the time in which they moved are unknown, and of the bus
  // also when it depends on the number of ranks and that is unknown.
  double algo_gbps() const;
  double bus_gbps() const;
};

struct MatchedCollectives {
  std::vector<Collective> matched;  // of two ranks and more, by the time of the first part
  std::vector<Collective> single;   // of one rank: what nobody else has, sends and receives
  std::uint64_t left_over = 0;      // parts for which another rank of the same group has no match
  std::uint64_t lone_messages = 0;  // sends and receives of which the other end is not known
  std::uint64_t by_operator = 0;  // parts whose bytes are those of the operator that launched them
  std::uint64_t sharing = 0;      // parts without, since several have one operator
  std::uint64_t launch_only = 0;  // parts that are no more than their launch
};

MatchedCollectives match_collectives(const Run& run);

}  // namespace traceloom
