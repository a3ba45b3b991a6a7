// StepBasis: the steps that all shares on a page are of, in every command the same.
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

// Whose steps: all that count of one rank, or of several together.
struct StepOwner {
  std::optional<std::int64_t> rank = {};  // the one, where the run has others
  std::size_t ranks = 0;
  std::size_t steps = 0;  // of all of them
  StepPhase phase = StepPhase::none;

  // "the mean step", "rank 2's mean step", "the mean decode step of 4 ranks".
  std::string text() const;
};

// Some time of the steps, and all time of them; both are sums over the steps.
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

  // What the roles take together, each instant for the first role that has it.
  StepShare part(std::initializer_list<Role> roles) const;
  StepShare share(std::int64_t ns) const { return {ns, steps.sum().total_ns, owner}; }
  // Of what is known as a mean over steps.
  StepShare share_of_mean(std::int64_t ns) const { return {ns, steps.mean().total_ns, owner}; }
};

// All ranks; where some have marked steps, those.
StepBasis mean_basis(const Run& run, const std::vector<RankRoles>& roles);
// The rank that holds up the others, if one does by much or by its loader, since the job is as fast
// as that rank; else the mean.
StepBasis choose_basis(const Run& run, const std::vector<RankRoles>& roles,
                       const Straggler& straggler, const LoaderJob& loader);

}  // namespace traceloom
