// What a repair would gain for the whole job: its network (network.h) is replayed step by step with
// the durations that the repair would leave.
//
//   const WhatIf found = find_what_if(run, {});
//   for (const Gain& gain : found.singles) use(gain.repairs.front().text(), gain.gain_ns);
//
// A repair makes a rank like the others of its stage, a stage like the other stages, a link or a
// group like the others of its kind, or takes something away. What it gains is the replayed mean
// step less the one with the repair. Gains of several repairs are never added: they are replayed
// together.
#pragma once

#include "analysis/replay/repair.h"
#include "analysis/replay/replay.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct Gain {
  std::vector<Repair> repairs;
  std::int64_t step_ns = 0;  // mean step with the repairs
  std::int64_t gain_ns = 0;  // of the mean step
  // The widest of: the quartiles of the steps' gains, the gains with the quartiles of the others'
  // times instead of their median, and what the replay without repairs is off.
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
};

struct WhatIfRequest {
  std::vector<Repair> set = {};  // repairs that are made together; without any: a list of all
  // What is looked at if nothing is set, besides what is unlike the others; nothing: all that the
  // job has, and pairs.
  std::optional<std::vector<Repair>> others = {};
  bool path_only = false;  // find the longest way through all steps, and no gains
};

struct WhatIf {
  std::string refusal;  // why there is no answer; all else but coverage is then empty
  std::size_t steps = 0;
  std::int64_t step_ns = 0;      // mean step, as recorded
  std::int64_t replayed_ns = 0;  // mean step of the replay without repairs
  double launches_share = 1;     // JobWork::launches_share()
  double coverage = 1;           // part of time in communication with all its ranks
  // Time a step and rank in front of device work for which no reason is known. It stays as it is in
  // the replay, so that gains are too small if it is much.
  std::int64_t unexplained_ns = 0;
  std::vector<Gain> asked;    // WhatIfRequest::set
  std::vector<Gain> singles;  // by gain
  std::vector<Gain> pairs;    // of ranks, stages, links and groups; by gain
  // The longest way through the steps, by class, and its work (compute, copies and loader) by rank.
  std::array<std::int64_t, kPathClassCount> path_ns = {};
  std::vector<std::int64_t> path_work_ns;
  std::vector<PathPiece> path;  // of all counted steps, in time order; only if it is asked for
};

inline constexpr double kLeastCoverage = 0.98;

WhatIf find_what_if(const Run& run, const WhatIfRequest& request);

}  // namespace traceloom
