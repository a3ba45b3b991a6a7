// RankWaits: who waits for whom, step by step, without comparing the clocks of ranks.
//
//   RankWaits waits = find_waits(run, roles);
//   waits.critical[step]           // the rank (its index) that the others waited for
//
// Where ranks meet (in collectives; in files of Composer without any, in event/backward, in which
// gradients are reduced) all leave together, so a rank spends the longer there the earlier it came:
// what it spends beyond the least of all ranks is waiting, and the rank that spends the least came
// last. Collectives are compared one by one where they can be matched, else all of a step together.
// What a rank's own work on its devices hides of its communication costs nothing, and is no wait.
//
// Files of Composer do not tell that rank 0 may wait in event/forward too: DDP sends its buffers
// from there to all others, and rank 0 waits for whoever comes late, while nobody else waits for
// one that is not rank 0. So where some rank comes as late to event/backward as rank 0 does, what
// rank 0's event/forward takes longer than the median of the others is taken to be such a wait.
#pragma once

#include "analysis/waits/step_roles.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace traceloom {

enum class MeetingKind : std::uint8_t {
  none,         // nothing tells where ranks meet, or there is one rank only
  collectives,  // Role::communication
  barriers,     // SpanMark::barrier
};

// The ranks and steps that are compared.
struct StepPlaces {
  const std::vector<std::size_t>& ranks;                      // indices into Run::ranks
  const std::vector<std::vector<std::uint32_t>>& step_index;  // [rank][step]: index in RankRoles

  // Where each rank stands in `ranks`; those that do not are left out.
  std::map<std::size_t, std::size_t> numbers() const {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) found[ranks[i]] = i;
    return found;
  }
};

struct RankWaits {
  MeetingKind kind = MeetingKind::none;
  bool one_by_one = false;         // collectives
  std::vector<std::size_t> ranks;  // indices into Run::ranks: those with steps
  // Left out, where others have marked steps, or at least two have communication.
  std::vector<std::size_t> without_steps;
  std::vector<std::size_t> without_communication;
  // The steps that all of these have, and for each rank its index in RankRoles.
  std::vector<StepKey> steps;
  std::vector<std::vector<std::uint32_t>> step_index;  // [rank][step]
  std::vector<std::vector<std::int64_t>> wait_ns;      // [rank][step]
  // As wait_ns, of all collectives of a step together; empty where that is wait_ns itself.
  std::vector<std::vector<std::int64_t>> together_ns;
  // [rank][step]: what the step would be shorter if that rank alone were as fast as the next one.
  std::vector<std::vector<std::int64_t>> delay_ns;
  // [step]: index into `ranks`. Who is waited for most beyond what it waits itself.
  std::vector<std::uint32_t> critical;
  // What each rank did itself, in a mean step: roles without meeting others.
  std::vector<RoleTimes> own_ns;  // [rank]
  // [step], of barriers: the least that a rank spent in them. That is no waiting, but computing and
  // communication, which nothing tells apart.
  std::vector<std::int64_t> barrier_ns;
  std::int64_t root_wait_ns = 0;  // in a mean step: what rank 0 is taken to wait in event/forward
  std::int64_t mean_step_ns = 0;

  // Of a rank in a mean step.
  std::int64_t mean_wait_ns(std::size_t rank) const;
  std::int64_t mean_delay_ns(std::size_t rank) const;
  std::int64_t mean_slack_ns(std::size_t rank) const;
  // In how many steps each rank came last, and others waited for it.
  std::vector<std::size_t> times_last() const;
  // By how much a rank could have come later to the meetings of a step, all together.
  std::int64_t slack_ns(std::size_t rank, std::size_t step) const {
    return (together_ns.empty() ? wait_ns : together_ns)[rank][step];
  }
};

// Calls use(step, roles) for each of the steps that all ranks have, of one rank and in the order of
// its own steps; `steps` and `index` are of that rank.
template <typename Use>
void for_each_shared(const PackedRows<StepRoles>& steps, const std::vector<std::uint32_t>& index,
                     Use use) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> shared(steps.size(), kNone);
  for (std::size_t step = 0; step < index.size(); ++step)
    shared[index[step]] = static_cast<std::uint32_t>(step);
  std::size_t i = 0;
  for (const StepRoles& roles : steps) {
    if (const std::uint32_t step = shared[i++]; step != kNone) use(std::size_t{step}, roles);
  }
}

// One RankRoles for each rank of the run.
RankWaits find_waits(const Run& run, const std::vector<RankRoles>& roles);

// Of all ranks, in parallel.
std::vector<RankRoles> find_all_roles(const Run& run);

}  // namespace traceloom
