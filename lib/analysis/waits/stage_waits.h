// StageWaits: the part of the communication of a pipeline's ranks that is waiting for other stages.
//
//   const StageWaits stages = find_stage_waits(run, collectives, roles, basis.ranks, lacks_ranks);
//   if (stages.is_pipeline) use(stages.wait_ns);
//
// Ranks that send to and receive from each other wait in these messages for the stages before and
// after them, and in the collectives at the end for unfinished stages. Data moves when both ends of
// a message are there, or all ranks of a collective; the time before that is waiting. Instants at
// which data of another message move are no waiting. No clocks are compared.
#pragma once

#include "analysis/collectives/collectives.h"
#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct StageWaits {
  bool is_pipeline = false;  // some ranks both send to others and receive from them
  std::size_t messages = 0;  // messages of these ranks; each end counts
  std::int64_t wait_ns = 0;  // waits in steps that no work of the rank's devices hides
  // Time in messages whose other end is not known, and in collectives of which ranks are missing:
  // it moves data or waits.
  std::int64_t unknown_ns = 0;
  // Exposed time that is no waiting, by what moves data: messages, collectives within the
  // micro-batches (of tensor, expert or sequence parallelism), and collectives at the end of a
  // step, after a rank's last message in it (gradients). An instant of a message counts as message.
  std::int64_t message_ns = 0;
  std::int64_t inner_ns = 0;
  std::int64_t end_ns = 0;

  // True if wait_ns is everything that is known about waiting: some messages have both ends.
  bool tells_waits() const { return is_pipeline || (unknown_ns > 0 && wait_ns > 0); }
};

// Uses the steps that count, of these ranks (indices into Run::ranks). `lacks_ranks`: the job has
// more ranks than the run. If only one rank is recorded, all its communication is unknown.
StageWaits find_stage_waits(const Run& run, CollectivesOfRun& collectives,
                            const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks, bool lacks_ranks);

}  // namespace traceloom
