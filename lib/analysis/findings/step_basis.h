// StepBasis: the steps to which all shares on a page refer, the same in every command.
//
//   const StepBasis basis = choose_basis(run, roles, straggler, loader);
//   const StepShare loader = basis.part({Role::dataloader});
//   fmt::print("{:.1f} % of {}", loader.share() * 100, basis.owner.text());  // rank 2's mean step
#pragma once

#include "analysis/findings/loader_waits.h"
#include "analysis/findings/straggler.h"
#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// The owner of steps: one rank with all its counted steps, or several ranks together.
struct StepOwner {
  std::optional<std::int64_t> rank = {};  // the rank, if it is one of several in the run
  std::size_t ranks = 0;
  std::size_t steps = 0;  // number of steps of all these ranks
  StepPhase phase = StepPhase::none;

  // Returns "the mean step", "rank 2's mean step", "the mean decode step of 4 ranks".
  std::string text() const;
};

// A part of the steps' time, and all of their time; both are sums over the steps.
struct StepShare {
  std::int64_t ns = 0;
  std::int64_t of_ns = 0;
  StepOwner of = {};

  double share() const {
    return of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of_ns) : 0;
  }
};

struct StepBasis {
  StepOwner owner;
  StepSum steps;
  std::vector<std::size_t> ranks;  // indices into Run::ranks

  // Returns the time of the roles together; each instant counts for the first role that has it.
  StepShare part(std::initializer_list<Role> roles) const;
  StepShare share(std::int64_t ns) const { return {ns, steps.sum().total_ns, owner}; }
  // Converts a mean over steps into a share.
  StepShare share_of_mean(std::int64_t ns) const { return {ns, steps.mean().total_ns, owner}; }
};

// Uses all ranks, or those with marked steps if there are any.
StepBasis mean_basis(const Run& run, const std::vector<RankRoles>& roles);
// Uses the rank that delays the others, if one does by much or because of its loader, since the job
// is as fast as that rank. Otherwise it uses the mean.
StepBasis choose_basis(const Run& run, const std::vector<RankRoles>& roles,
                       const Straggler& straggler, const LoaderJob& loader);

}  // namespace traceloom
