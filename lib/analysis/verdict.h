// Verdict: what limits a run, from where the time of its steps went and who waited for whom.
//
//   const Verdict verdict = find_verdict(Findings(run));
//   limit_name(verdict.kind)                                  // "straggler"
//   fmt::print("rank {}", *verdict.rank)                       // the one to look at, if it is one
#pragma once

#include "analysis/loader_waits.h"
#include "analysis/rank_waits.h"
#include "analysis/step_roles.h"
#include "analysis/straggler.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class Limit : std::uint8_t {
  data_loading,
  communication,
  straggler,
  memory,        // copies and fills of device memory
  launch_bound,  // the host works while the device does nothing
  idle,          // nothing that was recorded ran
  compute,
  inconclusive,
  count_  // not a limit: how many there are
};
inline constexpr std::size_t kLimitCount = static_cast<std::size_t>(Limit::count_);
inline constexpr std::array<std::string_view, kLimitCount> kLimitNames{
    "data-loading", "communication", "straggler", "memory",
    "launch-bound", "idle",          "compute",   "inconclusive"};
constexpr std::string_view limit_name(Limit limit) {
  return kLimitNames[static_cast<std::size_t>(limit)];
}

struct Verdict {
  Limit kind = Limit::inconclusive;
  double share = 0;                          // of a step
  std::optional<std::int64_t> rank;          // the one to look at; none when it is no single one
  std::array<double, kLimitCount> shares{};  // of each limit; those of a step, on its critical rank
  std::vector<std::string> evidence;
  std::vector<std::string> advice;
};

// All that the verdict is made of.
struct Findings {
  explicit Findings(const Run& run);

  std::vector<RankRoles> roles;
  RankWaits waits;
  Straggler straggler;
  LoaderJob loader;
  bool devices;  // some rank has events of a GPU
};

StepSum all_steps(const std::vector<RankRoles>& roles);
// Of each step on the rank that the others wait for; all steps where none of them meet.
StepSum critical_steps(const Findings& found);

// In each step the rank that the others wait for counts (rank_waits.h); without that all ranks do.
// Data loading: LoaderJob::share.
// The largest of these that is above its limit: data loading 5 %, communication, straggler and
// memory 10 %, idle 15 %, launch-bound 30 %; the last two only with devices. Else compute, if it is
// half of a step.
Verdict find_verdict(const Findings& found);

}  // namespace traceloom
