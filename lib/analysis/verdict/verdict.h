// The verdict: the limit of a run, how sure it is, and gates that hold a limit to an allowed value.
#pragma once

#include "analysis/account/account.h"
#include "analysis/devices/device_work.h"
#include "analysis/findings/loader_waits.h"
#include "analysis/findings/straggler.h"
#include "analysis/replay/what_if.h"
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

// Verdict: the limit of a run whose removal would save most, computed from the account of its steps
// and the waits between ranks.
//
//   const Verdict verdict = find_verdict(Findings(run));
//   limit_name(verdict.kind)                                  // "straggler"
//   verdict.gains[verdict.kind].share()                       // 0.77
//   fmt::print("rank {}", *verdict.rank)                       // the rank to examine, if any

enum class Limit : std::uint8_t {
  data_loading,
  communication,
  straggler,
  memory,         // copies and fills of device memory
  launch_bound,   // nothing was launched: the host runs short operators and calls
  host_operator,  // nothing was launched: an operator computes on the host
  host_call,      // nothing was launched: one call of the runtime goes on
  host_code,      // nothing was launched: the host runs only Python
  blocked,        // nothing was launched: the host is in a call that waits for the device
  queued,         // work was launched and did not begin
  turn_around,    // from one kernel to the next, which was queued behind it in its stream
  profiler,       // nothing was launched: the profiler works for itself
  idle,           // nothing was launched, and nothing that was recorded ran
  compute,
  inconclusive,
  count_  // the number of limits, not a limit
};
inline constexpr std::size_t kLimitCount = static_cast<std::size_t>(Limit::count_);
struct LimitRow {
  std::string_view name;
  std::string_view gain = {};  // what would be saved at most without it
  // The row of the account, for the limits that are reasons of a device that does nothing.
  AccountRow row = AccountRow::count_;
};
// scripts/limits.pl makes the table in docs/commands/bottleneck.md of it.
inline constexpr std::array<LimitRow, kLimitCount> kLimits{{
    {"data-loading",
     "the wait for data that nothing hides; the wait for whichever rank's data comes last, if that "
     "is more"},
    {"communication",
     "collectives and messages that nothing hides, without the time in which they wait for ranks"},
    {"straggler", "the time that the other ranks wait for this rank"},
    {"memory", "copies and fills that nothing hides"},
    {"launch-bound",
     "gaps in which the host runs operators and calls, each below 200 us of it, or compiled code",
     AccountRow::launch},
    {"host-operator",
     "gaps in which one operator of the host goes on for 200 us or more, without another one in "
     "it, in at least half of the steps (of a lone step: in most of its calls)",
     AccountRow::host_operator},
    {"host-call",
     "gaps in which a call of the runtime that launches nothing goes on for 200 us or more, in at "
     "least half of the steps",
     AccountRow::host_call},
    {"host-code", "gaps in which the host runs Python alone (needs with_stack)",
     AccountRow::host_code},
    {"blocked",
     "gaps in which nothing is launched and the host is in a call that waits for the device",
     AccountRow::blocked},
    {"queued",
     "gaps before work that was launched, and waits for another stream, another rank, or what was "
     "not recorded",
     AccountRow::queued},
    {"turn-around",
     "gaps before work that had been launched behind the last work of the same stream",
     AccountRow::turn_around},
    {"profiler", "gaps in which the profiler works for itself (category overhead)",
     AccountRow::profiler},
    {"idle", "gaps in which the host does nothing that was recorded", AccountRow::idle},
    {"compute",
     "the kernels of the name that takes longest or, without devices, such operators of the host; "
     "without what a straggler computes longer, if that is its cause"},
    {"inconclusive"},
}};
inline constexpr std::array kLimitNames = [] {
  std::array<std::string_view, kLimitCount> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kLimits[i].name;
  return names;
}();
inline constexpr std::array kGapLimits{Limit::launch_bound, Limit::host_operator, Limit::host_call,
                                       Limit::host_code,    Limit::blocked,       Limit::queued,
                                       Limit::turn_around,  Limit::profiler,      Limit::idle};

constexpr const LimitRow& row_of(Limit limit) {
  return kLimits[static_cast<std::size_t>(limit)];
}
constexpr std::string_view limit_name(Limit limit) {
  return row_of(limit).name;
}
// A wait can be gone, but work can only be faster: among the limits that may be the verdict,
// computing stands with half of its gain, as if that kernel took half the time.
constexpr double gain_weight(Limit limit) {
  return limit == Limit::compute ? 0.5 : 1;
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
constexpr std::string_view to_string(Status status) {
  return name_in({"measured", "inferred", "cannot tell"}, status);
}

// A change that would save time: at most `gain`, if its cause were gone. Gains of several remedies
// may be the same time, so they do not add up.
struct Remedy {
  Limit limit = Limit::inconclusive;
  std::string text;            // "more workers (num_workers), prefetch_factor"
  std::string_view see;        // the command that shows it: "dataloader"
  std::string_view part = {};  // the part of the limit's share: "waiting"; empty for all of it
  StepShare gain = {};
  std::size_t events = 0;       // how often
  std::int64_t longest_ns = 0;  // how long the longest; 0 if it is not known
  std::string where = {};       // "aten::normal_ 6.000 ms"
  Status status = Status::measured;
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
constexpr std::string_view to_string(WaitsBy by) {
  return name_in({"nothing", "messages", "collectives", "steps", "barriers"}, by);
}

struct Verdict {
  Limit kind = Limit::inconclusive;
  std::optional<std::int64_t> rank;  // the rank to examine; absent if it is no single one
  std::string named = {};  // the rank, stage, link or group of a straggler, if it is by replay
  // That rank, or one for which the others wait, or the one to whose steps the shares refer.
  std::optional<std::int64_t> named_rank;
  std::string why;              // reason of an inconclusive verdict, if it is known
  std::vector<Limit> possible;  // limits that an inconclusive verdict may be
  bool is_left_out = false;     // it is inconclusive since most of the steps is in no gain

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

  // The time of the steps that would be saved at most without the limit.
  ByLimit<StepShare> gains;
  std::vector<Remedy> remedies;  // by gain, the largest first; none below kWorthNaming
  std::string next;              // what to do or record next, with a command

  std::vector<std::string> evidence;
  std::vector<std::string> left_out;  // times that are in no gain, and why

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
  RankWaits waits;
  Straggler straggler;
  LoaderJob loader;
  StepBasis basis;
  bool lost_all;    // no step counts, and some do not because device work of theirs was lost
  bool devices;     // at least one rank has events of a GPU
  bool has_frames;  // at least one rank has Python's functions
  bool is_coarse;   // operations of a whole job; `what-if` replays them
  // A backward pass or an optimizer is among the names; they are read only if communication may be
  // the verdict.
  bool trains;
  std::size_t world_size;  // ranks of the job that the files name, at least those of the run
  bool is_alone;      // the run is one rank that communicates, and no file names the world size
  Account account;    // of the steps of the basis
  StageWaits stages;  // waits in the same steps, with devices, and where ranks are missing
  DeviceFacts facts;  // facts about the same ranks, with devices
  const WhatIf* job;  // gains of the job, where they are known, otherwise nullptr
  std::optional<Gain> oddest = {};  // the first of job->odd()
  bool has_lone_stages = false;     // each stage is one rank, whose device may be slow
  double least_waiting = 0;         // of the ranks of a pipeline; see Bubbles
  ByLimit<std::size_t> events;
  bool is_lone_batch;
  DeviceDoubts doubts;
  std::int64_t programs_ns = 0;  // time of whole programs of devices in the basis

  bool lacks_ranks() const { return is_alone || world_size > roles.size(); }
};

// Finds the verdict by these rules:
// 1. It is the limit with the largest gain, of at least 1 % of the steps. Of computing the gain is
//    the time of the kernels (or operators of the host) whose name takes longest, of which half
//    counts for the verdict (gain_weight()); of communication what moves data; of a straggler what
//    its delay costs the others.
// 2. Time before the first and after the last work of a device, in which a graph is captured, and
//    what does not recur are in no gain. If that is most of the steps, the verdict is
//    inconclusive.
// 3. Some times cannot be assigned: communication in event/backward if ranks meet there, messages
//    whose other end is not known, and idle devices without a recorded reason (if they are at least
//    5 % of the steps). The verdict is inconclusive unless it is the same for none and for all of
//    that time.
// 4. It is also inconclusive if a device is not understood, or if only whole programs are known of
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
  bool of_gain = false;              // with a share: of the gain, not of the limit's time
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
