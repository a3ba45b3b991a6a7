#include "analysis/findings/step_basis.h"

#include "analysis/waits/step_phases.h"
#include "base/saturating.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

StepBasis basis_of(const std::vector<RankRoles>& roles, std::vector<std::size_t> ranks) {
  StepBasis basis;
  // Some ranks of an inference engine have only prefill steps, others only decode steps.
  std::vector<std::size_t> with_steps;
  for (const std::size_t rank : ranks)
    if (!roles[rank].steps.empty()) with_steps.push_back(rank);
  if (!with_steps.empty()) ranks = std::move(with_steps);
  for (const std::size_t rank : ranks) {
    basis.steps.add_counted(roles[rank].steps);
    if (!roles[rank].steps.empty()) basis.owner.phase = (*roles[rank].steps.begin()).step.phase;
  }
  basis.owner.ranks = ranks.size();
  basis.owner.steps = basis.steps.count();
  if (ranks.size() == 1 && roles.size() > 1) basis.owner.rank = roles[ranks.front()].rank;
  basis.ranks = std::move(ranks);
  return basis;
}

}  // namespace

std::string StepOwner::text() const {
  const std::string step = step_noun(phase);
  if (rank) return fmt::format("rank {}'s mean {}", *rank, step);
  return ranks > 1 ? fmt::format("the mean {} of {} ranks", step, ranks) : "the mean " + step;
}

StepShare StepBasis::part(std::initializer_list<Role> roles) const {
  std::int64_t ns = 0;
  for (const Role role : roles) add_to(ns, steps.sum().exclusive[role]);
  return share(ns);
}

StepBasis mean_basis(const Run& run, const std::vector<RankRoles>& roles) {
  const auto is_marked = [](const RankEvents& rank) { return rank.steps.kind != StepKind::none; };
  const bool any = std::any_of(run.ranks.begin(), run.ranks.end(), is_marked);
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    if (!any || is_marked(run.ranks[rank])) ranks.push_back(rank);
  return basis_of(roles, std::move(ranks));
}

StepBasis choose_basis(const Run& run, const std::vector<RankRoles>& roles,
                       const Straggler& straggler, const LoaderJob& loader) {
  const std::optional<std::int64_t> late =
      straggler.holds_up_by_much() ? straggler.rank : loader.rank;
  for (std::size_t rank = 0; rank < roles.size(); ++rank)
    if (roles[rank].rank == late) return basis_of(roles, {rank});
  return mean_basis(run, roles);
}

}  // namespace traceloom
