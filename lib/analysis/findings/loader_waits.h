// The waits of loops for their data, and the steps to which these and all other shares refer.
#pragma once

#include "analysis/findings/straggler.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "output/json_writer.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// find_loader_rows, judge_loader: how long the loop of each rank waits for its data.
//
//   std::vector<LoaderRow> rows = find_loader_rows(run, roles);
//   LoaderJob job = judge_loader(run, roles, waits, straggler);

// The waits of one rank, and of one epoch if Composer recorded epochs.
struct LoaderRow {
  std::int64_t rank = 0;
  std::int64_t epoch = kNoId;
  bool instrumented = false;  // the rank has spans of a loader; else a wait of 0 means nothing
  std::int64_t steps = 0;
  std::int64_t total_ns = 0;    // time of the steps
  std::int64_t host_ns = 0;     // steps on the host: ProfilerStep#N; wait and event/batch
  std::int64_t wait_ns = 0;     // wait in host_ns, including the part that device work hides
  std::int64_t exposed_ns = 0;  // wait in the steps that is not hidden
  std::int64_t between_ns = 0;  // wait between two steps
  std::optional<std::int64_t> first_ns;     // the first wait: workers start, caches are cold
  std::vector<std::int64_t> step_waits_ns;  // wait of each step, in step order
  std::vector<std::int64_t> step_rest_ns;   // time of each step without its wait

  double share() const { return ratio(wait_ns, host_ns); }
  double exposed_share() const { return ratio(exposed_ns, total_ns); }
};

std::vector<LoaderRow> find_loader_rows(const Run& run, const std::vector<RankRoles>& roles);

// The late data of the whole job. Each step uses the rank whose exposed wait for data is longest
// beyond its wait for others in the same step: its data could have come that much earlier without
// effect. If loaders are late in turns, the mean of all ranks hides that each step waits for one of
// them.
struct LoaderJob {
  bool instrumented = false;
  std::int64_t late_ns = 0;  // late data in a mean step
  double late_share = 0;     // share of the longest steps
  double first_share = 0;    // share of that wait that is in the first step
  // The rank for whose loader all wait: a straggler because of its loader that delays the others by
  // much; otherwise the rank that waits longest in 80 % of at least four steps, by 5 % of a step,
  // if late_share is 10 %. Absent if there is no such rank.
  std::optional<std::int64_t> rank;

  // True if most of it is the first wait. That is long wherever workers have to start, so in few
  // steps it proves little about the others.
  bool is_mostly_first() const {
    return late_share >= 0.05 && first_share > 0.5 && first_share < 1;
  }
};

LoaderJob judge_loader(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
                       const Straggler& straggler);

enum class LoaderAnswer : std::uint8_t { unknown, no, yes };  // of several rows, the largest

// Applies the rule that Composer never released: the wait is more than 1 % of the rest of a step
// and more than 1 ms, both as means without outliers (two median deviations and more away from the
// median). The answer is unknown with fewer than 10 steps.
LoaderAnswer composer_rule(const LoaderRow& row);

// StepBasis: the steps to which all shares on a page refer, the same in every command.
//
//   const StepBasis basis = choose_basis(run, roles, straggler, loader);
//   const StepShare loader = basis.part({Role::dataloader});
//   fmt::print("{:.1f} % of {}", loader.share() * 100, basis.owner.text());  // rank 2's mean step

// The owner of steps: one rank with all its counted steps, or several ranks together.
struct StepOwner {
  std::optional<std::int64_t> rank = {};  // the rank, if it is one of several in the run
  std::size_t ranks = 0;
  std::size_t steps = 0;  // number of steps of all these ranks
  StepPhase phase = StepPhase::none;

  // Returns "the mean step", "rank 2's mean step", "the mean decode step of 4 ranks".
  std::string text() const;
};

// Writes its members "text", "rank", "ranks" and "steps" into the open object.
void write_owner(JsonWriter& json, const StepOwner& owner);

// A part of the steps' time, and all of their time; both are sums over the steps.
struct StepShare {
  std::int64_t ns = 0;
  std::int64_t of_ns = 0;
  StepOwner of = {};

  double share() const { return ratio(ns, of_ns); }
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

// Returns true if no step of these ranks is marked, and they wait for data once each at most. That
// is the start of a loader, from which no share of a step follows.
bool is_lone_batch(const Run& run, const StepBasis& basis);

}  // namespace traceloom
