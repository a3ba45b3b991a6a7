// StageWaits: the part of the communication of a pipeline's ranks that is waiting for other stages.
//
//   const StageWaits stages = find_stage_waits(run, roles, basis.ranks);
//   if (stages.is_pipeline) use(stages.wait_ns);
//
// Ranks that send to and receive from each other wait in these messages for the stages before and
// after them, and in the collectives at the end for unfinished stages. Data moves when both ends of
// a message are there, or all ranks of a collective; the time before that is waiting. Instants at
// which data of another message move are no waiting. No clocks are compared.
#pragma once

#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct StageWaits {
  bool is_pipeline = false;     // some ranks both send to others and receive from them
  std::size_t messages = 0;     // messages of these ranks; each end counts
  std::int64_t wait_ns = 0;     // waits in steps that no work of the rank's devices hides
  std::int64_t unknown_ns = 0;  // time in messages whose other end is not known

  // True if wait_ns is everything that is known about waiting: some messages have both ends.
  bool tells_waits() const { return is_pipeline || (unknown_ns > 0 && wait_ns > 0); }
};

// Uses the steps that count, of these ranks (indices into Run::ranks).
StageWaits find_stage_waits(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks);

}  // namespace traceloom
