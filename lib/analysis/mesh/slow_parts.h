// find_slow_parts: the ranks, stages, links and groups of a job that are slower than their like.
//
//   const SlowParts slow = find_slow_parts(run, find_mesh(run), roles, find_waits(run, roles));
//   for (const SlowRank& rank : slow.ranks) use(rank.rank, rank.more_ns);
//
// - A rank is compared with the other ranks of its stage, which do the same work. What all ranks of
//   its replica have more of, as with longer sequences, is not its own. It is slow if it has 3 % of
//   a mean step more than the median of the others in 80 % of the steps; a rank that has 10 % more
//   in at least two steps, and is the only one, is slow now and then. More time of its loader or
//   host counts only if others of its stage wait for it.
// - A stage is slow if even its fastest rank computes 5 % longer than the median rank of the other
//   stages, and 2 % of a mean step.
// - A link, the messages between two ranks, or a group is slow if its transfers take 1.5 times as
//   long as those of the others, with the same bytes, and cost 1 % of a mean step. Links within a
//   machine are compared with each other, as far as files name machines.
#pragma once

#include "analysis/mesh/mesh.h"
#include "analysis/waits/rank_waits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct SlowRank {
  std::int64_t rank = 0;
  Role role = Role::kernel;  // in which it spends more than its like
  std::int64_t more_ns = 0;  // a step
  double steps_share = 1;    // of the steps in which it does
  bool is_sporadic = false;
};
struct SlowStage {
  std::int64_t stage = 0;
  std::int64_t compute_ns = 0;  // of its fastest rank, a step
  std::int64_t others_ns = 0;   // median of the other stages
};
struct SlowTransfers {
  Axis axis = Axis::pipeline;
  std::vector<std::int64_t> ranks;  // both ends of a link, or the ranks of a group
  std::int64_t transfer_ns = 0;     // mean
  std::int64_t others_ns = 0;       // median of the means of the others
  std::int64_t more_ns = 0;         // a step
};

struct SlowParts {
  std::vector<SlowRank> ranks;
  std::vector<SlowStage> stages;
  std::vector<SlowTransfers> links;
  std::vector<SlowTransfers> groups;

  bool empty() const { return ranks.empty() && stages.empty() && links.empty() && groups.empty(); }
};

// `roles` and `waits` are those of the run.
SlowParts find_slow_parts(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles,
                          const RankWaits& waits);

// Returns a sentence for each part. `step_ns` is the mean step.
std::vector<std::string> slow_words(const SlowParts& slow, std::int64_t step_ns);
// Returns {"ranks":[...],"stages":[...],"links":[...],"groups":[...]}.
std::string slow_json(const SlowParts& slow);

}  // namespace traceloom
