// How long the loop of each rank waits for its data.
//
//   std::vector<LoaderRow> rows = find_loader_rows(run, roles);
//   LoaderJob job = judge_loader(run, roles, waits, straggler);
#pragma once

#include "analysis/findings/straggler.h"
#include "analysis/waits/rank_waits.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

// Of one rank, and one epoch where Composer tells them.
struct LoaderRow {
  std::int64_t rank = 0;
  std::int64_t epoch = kNoId;
  bool instrumented = false;  // the rank has spans of a loader: else a wait of 0 means nothing
  std::int64_t steps = 0;
  std::int64_t total_ns = 0;    // of the steps
  std::int64_t host_ns = 0;     // of the steps on the host: ProfilerStep#N; wait and event/batch
  std::int64_t wait_ns = 0;     // in host_ns, hidden behind device work or not
  std::int64_t exposed_ns = 0;  // in the steps, not hidden
  std::int64_t between_ns = 0;  // between two steps
  std::optional<std::int64_t> first_ns;     // the first wait: workers start, caches are cold
  std::vector<std::int64_t> step_waits_ns;  // of each step, in their order
  std::vector<std::int64_t> step_rest_ns;   // what each step took beside its wait

  double share() const { return part(wait_ns, host_ns); }
  double exposed_share() const { return part(exposed_ns, total_ns); }

 private:
  static double part(std::int64_t ns, std::int64_t all_ns) {
    return all_ns > 0 ? static_cast<double>(ns) / static_cast<double>(all_ns) : 0;
  }
};

std::vector<LoaderRow> find_loader_rows(const Run& run, const std::vector<RankRoles>& roles);

// Late data, of the whole job. In each step the rank counts whose exposed wait for data is longest
// beyond what it waits for others in the same step: so much later its data could have come without
// harm. Where loaders are late in turns, the mean of all ranks hides that each step waits for one.
struct LoaderJob {
  bool instrumented = false;
  std::int64_t late_ns = 0;  // in a mean step
  double late_share = 0;     // of the longest steps
  double first_share = 0;    // what of that wait is in the first step
  // The one whose loader all wait for: the straggler that is one by its loader and holds up the
  // others by much; else that which in 80 % of at least four steps waits longest, by 5 % of a step,
  // where late_share is 10 %. None when it is not one.
  std::optional<std::int64_t> rank;

  // The first wait is long wherever workers have to start: in few steps it says little of others.
  bool is_mostly_first() const {
    return late_share >= 0.05 && first_share > 0.5 && first_share < 1;
  }
};

LoaderJob judge_loader(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
                       const Straggler& straggler);

enum class LoaderAnswer : std::uint8_t { no, yes, unknown };

// The rule that Composer never released: the wait is more than 1 % of the rest of a step and more
// than 1 ms, both as means without outliers (two median deviations and more off the median);
// unknown with less than 10 steps.
LoaderAnswer composer_rule(const LoaderRow& row);

}  // namespace traceloom
