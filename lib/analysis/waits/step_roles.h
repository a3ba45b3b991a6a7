// find_roles: splits the time of each step of a rank into roles.
//
//   RankRoles roles = find_roles(run, rank);
//   roles.steps[0].exclusive[Role::dataloader]
#pragma once

#include "base/saturating.h"
#include "run/packed_intervals.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace traceloom {

// One number for each role, in ns.
class RoleTimes {
 public:
  std::int64_t& operator[](Role role) { return ns_[static_cast<std::size_t>(role)]; }
  std::int64_t operator[](Role role) const { return ns_[static_cast<std::size_t>(role)]; }
  // Adds up; sums that do not fit are cut to the limit of int64.
  void add(const RoleTimes& other) {
    for (std::size_t i = 0; i < kRoleCount; ++i) add_to(ns_[i], other.ns_[i]);
  }

 private:
  std::array<std::int64_t, kRoleCount> ns_{};
};

// The shares of a total, one for each role; all are 0 if there is no total.
class RoleShares {
 public:
  RoleShares(const RoleTimes& times, std::int64_t total_ns) {
    for (std::size_t i = 0; i < kRoleCount && total_ns > 0; ++i)
      shares_[i] = static_cast<double>(times[static_cast<Role>(i)]) / static_cast<double>(total_ns);
  }
  double operator[](Role role) const { return shares_[static_cast<std::size_t>(role)]; }

 private:
  std::array<double, kRoleCount> shares_{};
};

// The number of steps whose instants are processed at a time: runs with tiny steps have millions of
// them.
inline constexpr std::size_t kStepsAtATime = 4096;

// The instants at which events of a role ran on a rank. Roles overlap. Role::other is empty.
class RoleSets {
 public:
  PackedIntervals& operator[](Role role) { return sets_[static_cast<std::size_t>(role)]; }
  const PackedIntervals& operator[](Role role) const {
    return sets_[static_cast<std::size_t>(role)];
  }

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    for (PackedIntervals& set : sets_) wire(set);
  }

 private:
  std::array<PackedIntervals, kRoleCount> sets_;
};

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

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(rank, steps, sets);
  }
};

// Returns the waits for data one by one. A wait ends where the batch begins, or a callback that
// runs with the data: in files of Composer 0.7 and 0.8 the loader's span surrounds both.
std::vector<HostSpan> find_loader_spans(const RankEvents& rank);

// Calls one of both functions for each event that has a role, and for each role in no set order. A
// kernel is communication by its name, or if the External id of its launch belongs to a host range
// that is a collective ("nccl:all_reduce").
void for_each_role_span(const Run& run, const RankEvents& rank,
                        const std::function<void(Role, const HostSpan&)>& use_host,
                        const std::function<void(Role, const DeviceSpan&)>& use_device);
// The same for the events of devices alone.
void for_each_device_role(const Run& run, const RankEvents& rank,
                          const std::function<void(Role, const DeviceSpan&)>& use);

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

}  // namespace traceloom
