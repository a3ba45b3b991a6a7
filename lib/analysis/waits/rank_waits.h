// RankWaits: the waits of ranks for each other, step by step, without comparing the clocks of
// ranks.
//
//   RankWaits waits = find_waits(run, roles);
//   waits.critical[step]           // the rank (its index) that the others waited for
//
// Ranks meet in collectives; in Composer's files without collectives they meet in event/backward,
// in which gradients are reduced. All ranks leave a meeting together, so a rank that came earlier
// spends more time in it. The time beyond the least of all ranks is waiting, and the rank with the
// least time came last. Collectives are compared one by one if they can be matched, otherwise all
// of a step together. Communication that a rank's own work on its devices hides costs nothing, and
// is no wait.
//
// Composer's files do not show that rank 0 may wait in event/forward, too: there DDP sends rank 0's
// buffers to all others. Rank 0 waits for every rank that comes late, while no rank waits for a
// late rank other than 0. So if some rank comes as late to event/backward as rank 0, the time by
// which rank 0's event/forward exceeds the median of the others counts as such a wait.
#pragma once

#include "analysis/collectives/collectives.h"
#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace traceloom {

enum class MeetingKind : std::uint8_t {
  none,         // no event shows where ranks meet, or there is only one rank
  collectives,  // Role::communication
  barriers,     // SpanMark::barrier
};

struct RankWaits {
  MeetingKind kind = MeetingKind::none;
  bool one_by_one = false;         // collectives are compared one by one
  std::vector<std::size_t> ranks;  // indices into Run::ranks: those with steps
  // Ranks that are left out: without marked steps while others have some, or without communication
  // while at least two ranks have some.
  std::vector<std::size_t> without_steps;
  std::vector<std::size_t> without_communication;
  // The steps that all these ranks have, and for each rank their index in RankRoles.
  std::vector<StepKey> steps;
  std::vector<std::vector<std::uint32_t>> step_index;  // [rank][step]
  std::vector<std::vector<std::int64_t>> wait_ns;      // [rank][step]
  // Like wait_ns, but for all collectives of a step together; empty if wait_ns is already that.
  std::vector<std::vector<std::int64_t>> together_ns;
  // [rank][step]: the time by which the step would be shorter if that rank alone were as fast as
  // the next one.
  std::vector<std::vector<std::int64_t>> delay_ns;
  // [step]: index into `ranks` of the rank for which the others wait most, beyond its own waits.
  std::vector<std::uint32_t> critical;
  // The work of each rank itself in a mean step: roles without meeting others.
  std::vector<RoleTimes> own_ns;  // [rank]
  // [step], for barriers: the least time of a rank in them. It is not waiting, but computing and
  // communication, which the files do not separate.
  std::vector<std::int64_t> barrier_ns;
  std::int64_t root_wait_ns = 0;  // estimated wait of rank 0 in event/forward, in a mean step
  std::int64_t mean_step_ns = 0;

  // Maps each rank to its place in `ranks`; other ranks are missing.
  std::map<std::size_t, std::size_t> numbers() const {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) found[ranks[i]] = i;
    return found;
  }
  // Values of a rank in a mean step.
  std::int64_t mean_wait_ns(std::size_t rank) const;
  std::int64_t mean_delay_ns(std::size_t rank) const;
  std::int64_t mean_slack_ns(std::size_t rank) const;
  // Returns the number of steps in which each rank came last and others waited for it.
  std::vector<std::size_t> times_last() const;
  // Returns the time by which a rank could have come later to the meetings of a step, all together.
  std::int64_t slack_ns(std::size_t rank, std::size_t step) const {
    return (together_ns.empty() ? wait_ns : together_ns)[rank][step];
  }
};

// Calls use(step, roles) for each step of a rank that all ranks have, in the order of the rank's
// own steps. `steps` and `index` belong to that rank.
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

// StepFinder: finds the times of the steps that all ranks have, on one of the ranks.
//
//   const StepFinder steps(roles[rank], waits.step_index[rank]);
//   if (const auto step = steps.step_at(span.start_ns)) use(*step);

class StepFinder {
 public:
  // `index` is as in RankWaits::step_index.
  StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index);

  std::optional<std::size_t> step_at(std::int64_t ns) const;
  const Interval& time(std::size_t step) const { return times_[step]; }
  // Returns the number of instants (ns) of the set in each step.
  std::vector<std::int64_t> totals(const Intervals& set) const;

 private:
  Intervals times_;    // indexed by step
  Intervals windows_;  // the same, sorted by begin
  std::vector<std::size_t> steps_;
};

// MatchedWaits: how long ranks waited in collectives for the rank that came last, step by step.
//
//   if (auto waits = find_matched_waits(match_collectives(run), roles, places))
//   use(waits->wait_ns[rank][step]);
//
// It uses durations, so clocks need not agree. All ranks leave a collective together, so the rank
// that spent the least time in it came last. The additional time of every other rank was waiting,
// at the begin of its part. Waits of a rank in several collectives at the same time count once. The
// part of a wait that the rank's own device work hides, which has to be done anyway, counts as far
// as it makes the rank's exposed communication longer than that of the rank for which it waits,
// because later collectives start later.
//
// A rank that came last because it had waited for others itself is not blamed: the time that it
// waited more than the other rank since their last common collective is not its delay. A delay also
// does not count if all ranks of the collective wait for others later in the step at least a
// quarter as long: without the delay they would wait for those.

using WaitMatrix = std::vector<std::vector<std::int64_t>>;  // [rank][step]

// A collective belongs to the step in which it began on the rank that came last.
struct MatchedWaits {
  WaitMatrix wait_ns;
  WaitMatrix delay_ns;  // the least time that any other rank waited for this rank
};

// `waits` has the ranks and steps to compare. Uses collectives that all ranks of their group have
// and in which all wait for all: in a broadcast, a reduce, a gather or a scatter some ranks leave
// before the last one comes. Returns nullopt if the data prove too little: on some rank such
// collectives take less than half of the time in communication, or ranks differ by a tenth of the
// steps in the other collectives.
std::optional<MatchedWaits> find_matched_waits(const MatchedCollectives& collectives,
                                               const std::vector<RankRoles>& roles,
                                               const RankWaits& waits);

// `roles` has one entry for each rank of the run.
RankWaits find_waits(const Run& run, const std::vector<RankRoles>& roles);

// Finds the roles of all ranks, in parallel.
std::vector<RankRoles> find_all_roles(const Run& run);

// StageWaits: the part of the communication of a pipeline's ranks that is waiting for other stages.
//
//   const StageWaits stages = find_stage_waits(run, roles, basis.ranks, lacks_ranks);
//   if (stages.is_pipeline) use(stages.wait_ns);
//
// Ranks that send to and receive from each other wait in these messages for the stages before and
// after them, and in the collectives at the end for unfinished stages. Data moves when both ends of
// a message are there, or all ranks of a collective; the time before that is waiting. Instants at
// which data of another message move are no waiting. No clocks are compared.

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
StageWaits find_stage_waits(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks, bool lacks_ranks);

}  // namespace traceloom
