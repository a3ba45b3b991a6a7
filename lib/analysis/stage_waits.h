// StageWaits: how much of the communication of a pipeline's ranks is waiting for other stages.
//
//   const StageWaits stages = find_stage_waits(run, roles, basis.ranks, lacks_ranks);
//   if (stages.is_pipeline) use(stages.wait_ns);
//
// Ranks that send to and receive from each other wait in these messages for stages before and
// behind them, and in the collectives at the end for those that are not done. Data moves when both
// ends of a message are there, or all ranks of a collective; before that is waiting. Instants at
// which data of another message move are not. No clocks are compared.
#pragma once

#include "analysis/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct StageWaits {
  bool is_pipeline = false;  // some ranks both send to others and receive from them
  std::size_t messages = 0;  // of these ranks; each end counts
  std::int64_t wait_ns = 0;  // in steps, not hidden by work of the rank's devices
  // In messages of which the other end is not known, and in collectives of which ranks are missing:
  // moving data or waiting.
  std::int64_t unknown_ns = 0;
  // What is exposed and no waiting, by what moves data: messages, collectives within the
  // micro-batches (of tensor, expert or sequence parallelism), and those at the end of a step,
  // after a rank's last message in it (gradients). Instants of a message are its own.
  std::int64_t message_ns = 0;
  std::int64_t inner_ns = 0;
  std::int64_t end_ns = 0;

  // Whether wait_ns is all that is known of waiting: some messages are there.
  bool tells_waits() const { return is_pipeline || (unknown_ns > 0 && wait_ns > 0); }
};

// Of the steps that count, of these ranks (indices into Run::ranks). `lacks_ranks`: the job has
// more than the run. Of the only rank that is here nothing in communication is known.
StageWaits find_stage_waits(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks, bool lacks_ranks);

}  // namespace traceloom
