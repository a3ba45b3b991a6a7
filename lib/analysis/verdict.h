// Verdict: what limits a run, from where the time of its steps went and who waited for whom.
//
//   const Verdict verdict = find_verdict(Findings(run));
//   limit_name(verdict.kind)                                  // "straggler"
//   fmt::print("rank {}", *verdict.rank)                       // the one to look at, if it is one
#pragma once

#include "analysis/device_doubts.h"
#include "analysis/loader_waits.h"
#include "analysis/rank_waits.h"
#include "analysis/step_basis.h"
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
// From what share on a limit is worth a verdict.
double limit_threshold(Limit limit);

template <typename Value>
class ByLimit {
 public:
  Value& operator[](Limit limit) { return values_[static_cast<std::size_t>(limit)]; }
  const Value& operator[](Limit limit) const { return values_[static_cast<std::size_t>(limit)]; }

 private:
  std::array<Value, kLimitCount> values_{};
};

// A part of the steps, as `trace-stats steps` has it. What it truly is lies between two bounds,
// which differ where the traces do not tell it all.
struct LimitShare : StepShare {
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::string unknown_since = {};  // why the bounds differ

  bool is_known() const { return least_ns == most_ns; }
};

struct Verdict {
  Limit kind = Limit::inconclusive;
  std::optional<std::int64_t> rank;  // the one to look at; none when it is no single one
  std::string why;                   // of an inconclusive one, as far as that can be told
  std::vector<Limit> possible;       // what an inconclusive one may be

  StepOwner of;                // whose steps all shares are of
  ByLimit<LimitShare> shares;  // add up to at most all; that of a straggler is none
  StepShare waiting;           // for other ranks: it is in the share of `waiting_in`
  Limit waiting_in = Limit::communication;
  // Not a part of the steps: what a mean step would be shorter without the delay of a straggler,
  // and data-loading without that of whichever rank has its data last.
  ByLimit<StepShare> delays;
  // The others wait so long for whichever rank comes last, also where that is no straggler.
  StepShare measured_delay;

  std::vector<std::string> evidence;
  std::vector<std::string> advice;

  // The limit costs this much: its share, or its delay where that is more.
  bool is_delay(Limit limit) const { return delays[limit].share() > shares[limit].share(); }
  const StepShare& cost(Limit limit) const {
    return is_delay(limit) ? delays[limit] : static_cast<const StepShare&>(shares[limit]);
  }
};

// "takes 70.2 % of the mean step of 4 ranks", "the others wait 74.0 % of rank 2's mean step".
std::string cost_text(const Verdict& verdict, Limit limit);

// The figures that the verdict is made of.
struct Findings {
  explicit Findings(const Run& run);

  std::vector<RankRoles> roles;  // of the phase that takes most of the time (step_phases.h)
  RankWaits waits;
  Straggler straggler;
  LoaderJob loader;
  StepBasis basis;
  bool devices;  // some rank has events of a GPU
  DeviceDoubts doubts;
  std::int64_t programs_ns = 0;  // of the basis: whole programs of devices
};

// The largest of these that is above its limit: data loading 5 %, communication, straggler and
// memory 10 %, idle 15 %, launch-bound 30 %; the last two only with devices. Else compute, if it is
// half of the steps. Communication and compute count without what is waited for other ranks. Where
// ranks meet in event/backward, of which nobody knows how much is communication, it is inconclusive
// unless the verdict is the same for none and for all of it. Where a device is not understood, or
// all that is known of its computing is whole programs, it is inconclusive as well.
Verdict find_verdict(const Findings& found);

}  // namespace traceloom
