// The steps of all ranks: the roles that share their time, their lengths, and their phases.
#pragma once

#include "analysis/numbers.h"
#include "analysis/report.h"
#include "base/arithmetic.h"
#include "run/event_class.h"
#include "run/intervals.h"
#include "run/run.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// find_roles: splits the time of each step of a rank into roles.
//
//   RankRoles roles = find_roles(run, rank);
//   roles.steps[0].exclusive[Role::dataloader]

// One number for each role, in ns.
struct RoleTimes : ByEnum<Role, std::int64_t> {
  // Adds up; sums that do not fit are cut to the limit of int64.
  void add(const RoleTimes& other) {
    for (const Role role : kRoles) add_to((*this)[role], other[role]);
  }
};

// The shares of a total, one for each role; all are 0 if there is no total.
struct RoleShares : ByEnum<Role, double> {
  RoleShares(const RoleTimes& times, std::int64_t total_ns) {
    for (const Role role : kRoles) (*this)[role] = ratio(times[role], total_ns);
  }
};

// The number of steps whose instants are processed at a time: runs with tiny steps have millions of
// them.
inline constexpr std::size_t kStepsAtATime = 4096;

// The instants at which events of a role ran on a rank. Roles overlap. Role::other is empty.
using RoleSets = ByEnum<Role, PackedIntervals>;

struct StepRoles {
  Step step;
  std::int64_t total_ns = 0;
  RoleTimes exclusive;  // each instant counts for the first role that has it, so they add up to
                        // total_ns
  RoleTimes raw;        // each role by itself, including the time that another role hides
};

template <>
struct RowCodec<StepRoles> {
  // No role hides the rest, so both sets have one number for it. The two sets of roles are two
  // bytes each.
  static constexpr std::size_t kMostBytes =
      RowCodec<Step>::kMostBytes + 5 + (2 * kRoleCount - 1) * kMostNumberBytes;
  static void write(PackedWriter& to, const StepRoles& before, const StepRoles& row);
  static void read(PackedReader& from, StepRoles& row);
};

struct RankRoles {
  std::int64_t rank = 0;
  PackedRows<StepRoles> steps;
  RoleSets sets;

  // Returns the times of the steps that count.
  Intervals counted() const {
    Intervals times;
    for (const StepRoles& step : steps)
      if (step.step.counted) times.push_back(step.step.time);
    return unite(std::move(times));
  }
};

// Returns the waits for data one by one. A wait ends where the batch begins, or a callback that
// runs with the data: in files of Composer 0.7 and 0.8 the loader's span surrounds both.
std::vector<HostSpan> find_loader_spans(const RankEvents& rank);

// Calls one of both functions for each event that has a role, and for each role in no set order.
// Spans with Role::other are names of times: annotations, and what is not understood. A kernel is
// communication by its name, or if the External id of its launch belongs to a host range that is a
// collective ("nccl:all_reduce").
void for_each_role_span(const Run& run, const RankEvents& rank,
                        const std::function<void(Role, const HostSpan&)>& use_host,
                        const std::function<void(Role, const DeviceSpan&)>& use_device);
// The same for the events of devices alone.
using DeviceUse = std::function<void(Role, const EventColumns&, const DeviceSpan&)>;
void for_each_device_role(const Run& run, const RankEvents& rank, const DeviceUse& use);

RoleSets find_role_sets(const Run& run, const RankEvents& rank);
RankRoles find_roles(const Run& run, const RankEvents& rank);

// The sum of many steps. Runs with tiny steps have millions of them, so the steps are not kept.
class StepSum {
 public:
  void add(const StepRoles& step);
  void add_counted(const PackedRows<StepRoles>& steps);

  std::size_t count() const { return count_; }
  const StepRoles& sum() const { return sum_; }
  // Returns whole ns, halves rounded up; zero if there are no steps.
  StepRoles mean() const;
  // Returns shares of all their time; each instant counts for the first role that has it.
  RoleShares shares() const { return {sum_.exclusive, sum_.total_ns}; }

 private:
  StepRoles sum_;
  std::size_t count_ = 0;
};

// append_roles: columns with a number for each role, as tables of steps show them.
//
//   append_roles(columns, "{}_share", ColumnKind::share,
//                [](const Row& row, Role role) { return row.shares[role]; });

// Returns the title of a role's column: "Comm".
std::string role_title(Role role);

// Returns who is shown a role's column. On a narrow terminal the columns of roles that are mostly
// 0 go first.
Readers role_readers(Role role);

template <typename Row, typename Value>
void append_roles(ColumnsOf<Row>& columns, std::string_view key, ColumnKind kind, Value value) {
  for (const Role role : kRoles)
    columns.push_back({fmt::format(fmt::runtime(key), role_name(role)), role_title(role), kind,
                       role_readers(role),
                       [role, value](const Row& row) { return value(row, role); }});
}

// longest_steps: the length of each step of a run, which is that on the rank on which it takes
// longest.
//
//   for (const auto& [key, ns] : longest_steps(find_main_roles(run))) use(key.number, ns);

using StepLength = std::pair<StepKey, std::int64_t>;

// Returns the counted steps of all ranks, ascending by key. A step that some ranks do not have
// counts with its length on the others.
std::vector<StepLength> longest_steps(const std::vector<RankRoles>& roles);
std::vector<std::int64_t> lengths_ns(const std::vector<StepLength>& steps);
// If one of at least three steps takes most of the time, adds a note with its number: no mean
// describes such steps.
void note_longest(const std::vector<StepLength>& steps, Report& report);

// Steps of several phases: the iterations of an inference engine, some of which process prompts
// (prefill) while others make a token for each request (decode). No mean covers both. So a figure
// describes the steps of one phase, the one with the most time, or of each phase by itself.
//
//   std::vector<RankRoles> roles = find_all_roles(run);
//   for (const PhaseSteps& phase : find_phases(roles)) use(phase.phase, phase.steps.mean());
//   keep_phase(roles, main_phase(roles));

// All counted steps of one phase, of all ranks.
struct PhaseSteps {
  StepPhase phase = StepPhase::none;
  StepSum steps;
};

// Returns the phases that have steps, prefill first. Steps of a training are one phase, none.
std::vector<PhaseSteps> find_phases(const std::vector<RankRoles>& ranks);

// Returns the phase that takes the most time.
StepPhase main_phase(const std::vector<RankRoles>& ranks);

// Removes the steps of the other phases.
void keep_phase(std::vector<RankRoles>& ranks, StepPhase phase);

// Returns find_all_roles() with only the main phase.
std::vector<RankRoles> find_main_roles(const Run& run);

// If steps are iterations of an inference engine, appends a table "kinds" with a row for each
// phase: the number of steps, their length, and the parts of a mean step.
void append_phases(const Run& run, Report& report);

// If steps have several phases, adds a note with the phase that the report describes.
void note_phase(const Run& run, const std::vector<RankRoles>& kept, Report& report);

// Returns "decode step" or "step".
std::string step_noun(StepPhase phase);

}  // namespace traceloom
