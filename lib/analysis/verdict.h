// Verdict: what limits a run, from where the time of its steps went and who waited for whom.
//
//   const Verdict verdict = find_verdict(Findings(run));
//   limit_name(verdict.kind)                                  // "straggler"
//   fmt::print("rank {}", *verdict.rank)                       // the one to look at, if it is one
#pragma once

#include "analysis/device_doubts.h"
#include "analysis/device_facts.h"
#include "analysis/idle_causes.h"
#include "analysis/loader_waits.h"
#include "analysis/rank_waits.h"
#include "analysis/stage_waits.h"
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
  launch_bound,  // nothing was launched: the host runs operators and calls
  host_code,     // nothing was launched: the host runs Python alone
  blocked,       // the device does nothing, and the host sits in a call that waits for it
  queued,        // launched and not begun
  idle,          // nothing was launched, and nothing that was recorded ran
  compute,
  inconclusive,
  count_  // not a limit: how many there are
};
inline constexpr std::size_t kLimitCount = static_cast<std::size_t>(Limit::count_);
inline constexpr std::array<std::string_view, kLimitCount> kLimitNames{
    "data-loading", "communication", "straggler", "memory",  "launch-bound", "host-code",
    "blocked",      "queued",        "idle",      "compute", "inconclusive"};
// Those of a device that does nothing, see idle_causes.h.
inline constexpr std::array kIdleLimits{Limit::launch_bound, Limit::host_code, Limit::blocked,
                                        Limit::queued, Limit::idle};

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

// How a figure is known.
enum class Status : std::uint8_t { measured, inferred, cannot_tell };
std::string_view to_string(Status status);

struct Verdict {
  Limit kind = Limit::inconclusive;
  std::optional<std::int64_t> rank;  // the one to look at; none when it is no single one
  std::string why;                   // of an inconclusive one, as far as that can be told
  std::vector<Limit> possible;       // what an inconclusive one may be

  StepOwner of;                // whose steps all shares are of
  ByLimit<LimitShare> shares;  // add up to at most all; that of a straggler is none
  StepShare waiting;           // for other ranks: it is in the share of `waiting_in`
  Limit waiting_in = Limit::communication;
  bool waits_for_stages = false;  // these are the stages of a pipeline
  // Moving data or waiting, which nothing tells apart: in messages of which the other end is not
  // known, and where ranks are missing.
  StepShare untold;
  StepShare not_recorded;  // of the steps: why no device worked; none of the limits
  // Not a part of the steps: what a mean step would be shorter without the delay of a straggler,
  // and data-loading without that of whichever rank has its data last.
  ByLimit<StepShare> delays;
  // The others wait so long for whichever rank comes last, also where that is no straggler.
  StepShare measured_delay;

  std::vector<std::string> evidence;
  std::vector<std::string> advice;

  ByLimit<Status> status;  // of the shares; of an inconclusive verdict its own
  ByLimit<std::size_t>
      events;  // of which each share is the time: work, parts of gaps, waits, steps

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
  bool devices;            // some rank has events of a GPU
  bool has_frames;         // some rank has Python's functions
  bool trains;             // a backward pass or an optimizer is among the names
  std::size_t world_size;  // ranks of the job as far as the files tell, at least those of the run
  bool is_alone;           // the run is one rank that communicates, and no file tells with how many
  IdleCauses causes;       // of the basis, with devices
  StageWaits stages;       // of the basis, with devices, and where ranks are missing
  DeviceFacts facts;       // of the basis, with devices
  ByLimit<std::size_t> events;
  DeviceDoubts doubts;
  std::int64_t programs_ns = 0;  // of the basis: whole programs of devices

  bool lacks_ranks() const { return is_alone || world_size > roles.size(); }
};

// The largest of these that is above its limit: data loading 5 %, communication, straggler and
// memory 10 %, idle, host code, blocked and queued 15 %, launch-bound 30 %; the last five only with
// devices. Else compute, if it is half of the steps. Communication and compute count without what
// is waited for other ranks, queued without what waited before the first work of the trace. Where
// ranks meet in event/backward, of which nobody knows how much is communication, where messages do
// not tell their other end, or where it was not recorded why devices do nothing (5 % of the steps
// and more), it is inconclusive unless the verdict is the same for none and for all of that. Where
// a device is not understood, or all that is known of its computing is whole programs, it is
// inconclusive too, and where devices were given work that the traces do not hold, if it would be
// compute or communication.
//
// Coverage: a verdict of communication needs all ranks of the groups that communicate. Where ranks
// of the job are missing, what nothing tells apart is moving data or waiting for these: all
// communication of a rank that is alone, else that in collectives that not all ranks of their group
// have, from when all that are here had come. The verdict is inconclusive unless it is the same for
// none and for all of that, and says which ranks to record.
Verdict find_verdict(const Findings& found);

}  // namespace traceloom
