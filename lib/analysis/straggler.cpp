#include "analysis/straggler.h"

#include "analysis/straggler_cause.h"
#include "base/saturating.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace traceloom {
namespace {

constexpr double kLeastDelayShare = 0.10;  // of the mean step: less is noise
constexpr double kSeparation = 0.25;       // candidates wait less than that of what others wait
constexpr double kLeastShare = 0.80;       // of the steps in which a candidate came last
constexpr std::size_t kLeastSteps = 2;
constexpr std::size_t kFewSteps = 4;  // in less a rank is named only with a cause
constexpr std::size_t kManySteps = 20;

// For whichever rank is waited for most, in a mean step.
std::int64_t changing_delay(const RankWaits& waits) {
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::int64_t most = 0;
    for (const std::vector<std::int64_t>& delays : waits.delay_ns)
      most = std::max(most, delays[step]);
    add_to(sum, most);
  }
  return waits.steps.empty() ? 0 : sum / static_cast<std::int64_t>(waits.steps.size());
}

bool is_far_less(std::int64_t wait_ns, std::int64_t than_ns) {
  return static_cast<double>(wait_ns) <= kSeparation * static_cast<double>(than_ns);
}

// Indices of the ranks that wait far less than all others; empty when there are none such.
std::vector<std::size_t> find_candidates(const RankWaits& waits, std::int64_t& delay_ns) {
  std::vector<std::int64_t> means;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    means.push_back(waits.mean_wait_ns(rank));
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
  std::size_t count = 0;
  delay_ns = 0;
  for (std::size_t k = 1; k <= order.size() / 2; ++k) {
    const std::int64_t gap = means[order[k]] - means[order[k - 1]];
    if (!is_far_less(means[order[k - 1]], means[order[k]]) || gap <= delay_ns) continue;
    delay_ns = gap;
    count = k;
  }
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// The share of the steps in which one of `candidates` came last, and all of them wait far less than
// the others there too: with noise somebody is the last in every step.
double share_of_last(const RankWaits& waits, const std::vector<std::size_t>& candidates) {
  std::size_t times = 0;
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::int64_t most = 0;
    std::int64_t least_of_others = std::numeric_limits<std::int64_t>::max();
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
      const std::int64_t ns = waits.wait_ns[rank][step];
      if (std::binary_search(candidates.begin(), candidates.end(), rank))
        most = std::max(most, ns);
      else
        least_of_others = std::min(least_of_others, ns);
    }
    if (least_of_others > most && is_far_less(most, least_of_others)) ++times;
  }
  return waits.steps.empty() ? 0
                             : static_cast<double>(times) / static_cast<double>(waits.steps.size());
}

}  // namespace

Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits) {
  Straggler found;
  if (waits.kind == MeetingKind::none || waits.mean_step_ns <= 0) return found;
  const std::vector<std::size_t> candidates = find_candidates(waits, found.delay_ns);
  found.delay_share = static_cast<double>(found.delay_ns) / static_cast<double>(waits.mean_step_ns);
  if (candidates.empty() || found.delay_share < kLeastDelayShare) {
    found.delay_ns = 0;
    found.delay_share = 0;
    const std::int64_t changing_ns = changing_delay(waits);
    if (waits.steps.size() < kLeastSteps ||
        static_cast<double>(changing_ns) <
            kLeastDelayShare * static_cast<double>(waits.mean_step_ns))
      return found;
    found.pattern = "changing";
    found.changing_ns = changing_ns;
    return found;
  }
  for (const std::size_t rank : candidates)
    found.candidates.push_back(run.ranks[waits.ranks[rank]].rank);
  found.waited_for_share = share_of_last(waits, candidates);
  found.cause = StragglerCause::inconclusive;
  const bool persistent =
      found.waited_for_share >= kLeastShare && waits.steps.size() >= kLeastSteps;
  found.pattern = persistent ? "persistent" : "sporadic";
  if (candidates.size() > 1) {
    found.why = "the events recorded cannot tell these ranks apart";
  } else if (!persistent) {
    found.why =
        waits.steps.size() < kLeastSteps ? "one step is too little to tell" : "in some steps only";
  } else {
    found.rank = found.candidates.front();
    found.confidence = waits.steps.size() >= kManySteps ? "high" : "medium";
    explain(run, roles, waits, candidates.front(), found);
    if (found.cause == StragglerCause::inconclusive && waits.steps.size() < kFewSteps) {
      found.rank.reset();
      found.confidence = "low";
    }
  }
  return found;
}

}  // namespace traceloom
