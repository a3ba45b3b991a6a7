// TimeLine: a job as coarse operations: each rank's forward and backward passes of micro-batches,
// messages and collectives (run/event_class.h), in a grid of steps, replicas and stages.
//
//   if (run.is_coarse()) {
//     const TimeLine line = read_time_line(run, {});
//     line.ns_at(step, replica, operation)
//   }
//
// Ranks and stages are those that the names of rows say. The ranks of a stage are the replicas of
// its layers, in their order.
#pragma once

#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// An operation that every replica has in every step.
struct Operation {
  OperationKind kind = OperationKind::forward_compute;
  std::int64_t number = 0;  // its seq_id: which one of its kind it is in its stage
  std::size_t stage = 0;
  Interval time;  // when it ran in the first replica and the first step
};
// Returns "backward-send 3 of stage 1".
std::string words_of(const Operation& operation);

struct TimeLine {
  std::size_t replicas = 0;
  std::size_t stages = 0;
  std::vector<std::int64_t> steps;    // their numbers, ascending
  std::vector<std::int64_t> ranks;    // by stage, then by replica
  std::vector<Operation> operations;  // by stage, kind and number
  std::vector<std::int64_t> ns;       // durations by step, replica and operation

  std::int64_t rank_of(std::size_t stage, std::size_t replica) const {
    return ranks[stage * replicas + replica];
  }
  std::int64_t ns_at(std::size_t step, std::size_t replica, std::size_t operation) const {
    return ns[(step * replicas + replica) * operations.size() + operation];
  }
};

// Leaves out steps by their numbers. Throws Error, which says what is missing, unless all replicas
// have the same operations in all other steps, and for kinds of events that it does not know.
TimeLine read_time_line(const Run& run, const std::vector<NumberRange>& left_out_steps);

}  // namespace traceloom
