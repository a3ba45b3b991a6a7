// The verdict: the limit of a run, how sure it is, and gates that hold a limit to an allowed value.
#pragma once

#include "analysis/devices/device_facts.h"
#include "analysis/findings/idle_causes.h"
#include "analysis/findings/loader_waits.h"
#include "analysis/findings/straggler.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "base/by_enum.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Verdict: the limit of a run, computed from the time of its steps and the waits between ranks.
//
//   const Verdict verdict = find_verdict(Findings(run));
//   limit_name(verdict.kind)                                  // "straggler"
//   fmt::print("rank {}", *verdict.rank)                       // the rank to examine, if any

enum class Limit : std::uint8_t {
  data_loading,
  communication,
  straggler,
  memory,        // copies and fills of device memory
  launch_bound,  // nothing was launched: the host runs operators and calls
  host_code,     // nothing was launched: the host runs only Python
  blocked,       // the device does nothing, and the host is in a call that waits for it
  queued,        // work was launched and did not begin
  idle,          // nothing was launched, and nothing that was recorded ran
  compute,
  inconclusive,
  count_  // the number of limits, not a limit
};
inline constexpr std::size_t kLimitCount = static_cast<std::size_t>(Limit::count_);
struct LimitRow {
  std::string_view name;
  double threshold;                     // the share from which the limit is worth a verdict
  IdleCause cause = IdleCause::count_;  // of an idle device, if the limit is one of those
};
inline constexpr std::array<LimitRow, kLimitCount> kLimits{{
    {"data-loading", 0.05},
    {"communication", 0.10},
    {"straggler", 0.10},
    {"memory", 0.10},
    {"launch-bound", 0.30, IdleCause::launch},
    {"host-code", 0.15, IdleCause::host_code},
    {"blocked", 0.15, IdleCause::blocked},
    {"queued", 0.15, IdleCause::queued},
    {"idle", 0.15, IdleCause::idle},
    {"compute", 0.50},
    {"inconclusive", 0.50},
}};
inline constexpr std::array kLimitNames = [] {
  std::array<std::string_view, kLimitCount> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kLimits[i].name;
  return names;
}();
inline constexpr std::array kIdleLimits{Limit::launch_bound, Limit::host_code, Limit::blocked,
                                        Limit::queued, Limit::idle};

constexpr const LimitRow& row_of(Limit limit) {
  return kLimits[static_cast<std::size_t>(limit)];
}
constexpr std::string_view limit_name(Limit limit) {
  return row_of(limit).name;
}
constexpr double limit_threshold(Limit limit) {
  return row_of(limit).threshold;
}

template <typename Value>
using ByLimit = ByEnum<Limit, Value>;

// A part of the steps, as in `trace-stats steps`. The true value lies between two bounds, which
// differ if the traces do not show all of it.
struct LimitShare : StepShare {
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::string unknown_since = {};  // reason why the bounds differ

  bool is_known() const { return least_ns == most_ns; }
  // Marks all of it as unknown.
  void forget(std::string_view since) {
    least_ns = 0;
    most_ns = of_ns;
    unknown_since = since;
  }
};

// The way in which a figure is known.
enum class Status : std::uint8_t { measured, inferred, cannot_tell };
std::string_view to_string(Status status);

// One piece of advice, with the share for which it is given.
struct Advice {
  std::string text;
  Limit limit = Limit::inconclusive;
  // The part of the limit's share: "waiting", "moving data"; empty for all of it.
  std::string_view part = {};
  StepShare share = {};  // empty if the advice follows from no share
  Status status = Status::cannot_tell;
  std::size_t events = 0;
};

// WaitsBy names what is compared to find the waiting for other ranks.
enum class WaitsBy : std::uint8_t {
  nothing,
  messages,     // both ends of each message, and all ranks of each collective
  collectives,  // the time of each rank in each collective
  // The time of each rank in all collectives of a step: single ones are missing on some ranks, or
  // ranks leave them before others come. Waiting is the time beyond that of the rank with least.
  steps,
  barriers,  // event/backward
};
std::string_view to_string(WaitsBy by);

struct Verdict {
  Limit kind = Limit::inconclusive;
  std::optional<std::int64_t> rank;  // the rank to examine; absent if it is no single one
  std::string why;                   // reason of an inconclusive verdict, if it is known
  std::vector<Limit> possible;       // limits that an inconclusive verdict may be

  StepOwner of;                // owner of the steps to which all shares refer
  ByLimit<LimitShare> shares;  // they add up to at most all of the steps; a straggler has no share
  StepShare waiting;           // waits for other ranks; part of the share of `waiting_in`
  Limit waiting_in = Limit::communication;
  WaitsBy waits_by = WaitsBy::nothing;
  bool waits_for_stages = false;  // the waits are for stages of a pipeline
  // Time that moves data or waits, and nothing separates the two: in messages whose other end is
  // not known, and where ranks are missing.
  StepShare untold;
  // Time of whole programs of devices, of which nothing tells how much is computing. It is the
  // difference between the bounds of compute, whose share is only what is known to be computing.
  StepShare programs;
  StepShare not_recorded;  // share of the steps without a known reason why no device worked;
                           // belongs to no limit
  // The time by which a mean step would be shorter without the delay of a straggler, and for
  // data-loading without that of the rank that has its data last in each step. It is no part of the
  // steps.
  ByLimit<StepShare> delays;
  // The wait of the others for the rank that comes last in each step, even if there is no
  // straggler.
  StepShare measured_delay;

  std::vector<std::string> evidence;
  std::vector<Advice> advice;

  ByLimit<Status> status;  // status of the shares; an inconclusive verdict has its own
  ByLimit<std::size_t>
      events;  // number of events whose time a share is: work, parts of gaps, waits, steps

  // The cost of the limit is its share, or its delay if that is more.
  bool is_delay(Limit limit) const { return delays[limit].share() > shares[limit].share(); }
  const StepShare& cost(Limit limit) const {
    return is_delay(limit) ? delays[limit] : static_cast<const StepShare&>(shares[limit]);
  }
};

// Returns "takes 70.2 % of the mean step of 4 ranks", "the others wait 74.0 % of rank 2's mean
// step".
std::string cost_text(const Verdict& verdict, Limit limit);

// The figures from which the verdict is computed.
struct Findings {
  explicit Findings(const Run& run);

  std::vector<RankRoles> roles;  // roles of the phase that takes most of the time (step_roles.h)
  CollectivesOfRun collectives;
  RankWaits waits;
  Straggler straggler;
  LoaderJob loader;
  StepBasis basis;
  bool lost_all;    // no step counts, and some do not because device work of theirs was lost
  bool devices;     // at least one rank has events of a GPU
  bool has_frames;  // at least one rank has Python's functions
  // A backward pass or an optimizer is among the names; they are read only if communication may be
  // the verdict.
  bool trains;
  std::size_t world_size;  // ranks of the job that the files name, at least those of the run
  bool is_alone;      // the run is one rank that communicates, and no file names the world size
  IdleCauses causes;  // causes in the steps of the basis, with devices
  StageWaits stages;  // waits in the same steps, with devices, and where ranks are missing
  DeviceFacts facts;  // facts about the same ranks, with devices
  ByLimit<std::size_t> events;
  DeviceDoubts doubts;
  std::int64_t programs_ns = 0;  // time of whole programs of devices in the basis

  bool lacks_ranks() const { return is_alone || world_size > roles.size(); }
};

// Finds the verdict by these rules:
// 1. It is the largest limit above its threshold: data loading 5 %, communication, straggler and
//    memory 10 %, idle, host code, blocked and queued 15 %, launch-bound 30 %; the last five only
//    with devices.
// 2. Otherwise it is compute, if that takes half of the steps.
// 3. Communication and compute count without the waits for other ranks, queued without the time
//    before the first work of the trace.
// 4. Some times cannot be assigned: communication in event/backward if ranks meet there, messages
//    whose other end is not known, and idle devices without a recorded reason (if they are at least
//    5 % of the steps). The verdict is inconclusive unless it is the same for none and for all of
//    that time.
// 5. It is also inconclusive if a device is not understood, or if only whole programs are known of
//    its computing, or if it would be compute or communication while devices were given work that
//    the traces do not hold.
//
// Coverage: a verdict of communication needs all ranks of the groups that communicate. If ranks of
// the job are missing, some time either moves data or waits for them: all communication of a rank
// that is alone, otherwise the collectives that not all ranks of their group have, from the moment
// when all recorded ranks had come. The verdict is inconclusive unless it is the same for none and
// for all of that time, and it says which ranks to record.
Verdict find_verdict(const Findings& found);

// LimitGate: decides whether a limit of a run is below an allowed value.
//
//   const GateResult result = judge({Limit::data_loading, 0.05}, verdict);
//   if (result.answer == GateAnswer::fails) fmt::print("{}\n", result.why);

struct LimitGate {
  Limit limit;
  std::optional<double> share = {};  // the most that is allowed; without it the limit must not be
                                     // the verdict
};

enum class GateAnswer : std::uint8_t {
  passes,
  fails,
  unknown,  // the traces do not show it
};

struct GateResult {
  GateAnswer answer;
  std::string
      why;  // "data-loading takes 70.2 % of the mean step of 4 ranks"; "" if the gate passes
};

// Decides, with a share, whether the limit may take that much of the steps, or of the time that
// others wait for it (Verdict::delays, and Verdict::measured_delay for a straggler). Without a
// share: an inconclusive verdict passes if the limit is too small to be it.
GateResult judge(const LimitGate& gate, const Verdict& verdict);

}  // namespace traceloom
