// Where the time of each step of a rank went.
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
#include <vector>

namespace traceloom {

// One number a role, in ns.
class RoleTimes {
 public:
  std::int64_t& operator[](Role role) { return ns_[static_cast<std::size_t>(role)]; }
  std::int64_t operator[](Role role) const { return ns_[static_cast<std::size_t>(role)]; }
  // What does not fit is cut to what does.
  void add(const RoleTimes& other) {
    for (std::size_t i = 0; i < kRoleCount; ++i) add_to(ns_[i], other.ns_[i]);
  }

 private:
  std::array<std::int64_t, kRoleCount> ns_{};
};

// Parts of a total, one a role; all 0 where there is no total.
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

// What is worked out of all instants of steps is worked out of so many at a time: runs with tiny
// steps have millions of them.
inline constexpr std::size_t kStepsAtATime = 4096;

// The instants at which something of a role ran on a rank; roles overlap. Role::other is empty.
class RoleSets {
 public:
  PackedIntervals& operator[](Role role) { return sets_[static_cast<std::size_t>(role)]; }
  const PackedIntervals& operator[](Role role) const {
    return sets_[static_cast<std::size_t>(role)];
  }

 private:
  std::array<PackedIntervals, kRoleCount> sets_;
};

struct StepRoles {
  Step step;
  std::int64_t total_ns = 0;
  RoleTimes exclusive;  // each instant counts for the first role that has it; they add up to total
  RoleTimes raw;        // each role by itself: what is hidden behind another counts as well
};

template <>
struct RowCodec<StepRoles> {
  // Nothing hides what is left over: it is one number. The two sets of roles are two bytes each.
  static constexpr std::size_t kMostBytes =
      RowCodec<Step>::kMostBytes + 5 + (2 * kRoleCount - 1) * kMostNumberBytes;
  static void write(PackedWriter& to, const StepRoles& before, const StepRoles& row);
  static void read(PackedReader& from, StepRoles& row);
};

struct RankRoles {
  std::int64_t rank = 0;
  PackedRows<StepRoles> steps;
  RoleSets sets;
};

// A kernel counts as communication by its name, or when the External id of its launch is that of a
// host range that is a collective ("nccl:all_reduce"). A wait for data ends where the batch begins,
// or a callback that runs once the data is there: in files of Composer 0.7 and 0.8 the loader's
// span goes on around both. The waits one by one; their ends are those of the waits.
std::vector<HostSpan> find_loader_spans(const RankEvents& rank);

RoleSets find_role_sets(const Run& run, const RankEvents& rank);
RankRoles find_roles(const Run& run, const RankEvents& rank);

// Many steps as one. Runs with tiny steps have millions of them: they are not kept.
class StepSum {
 public:
  void add(const StepRoles& step);
  void add_counted(const PackedRows<StepRoles>& steps);

  std::size_t count() const { return count_; }
  const StepRoles& sum() const { return sum_; }
  // Whole ns, halves up; zero without steps.
  StepRoles mean() const;
  // Of all their time, each instant for the first role that has it.
  RoleShares shares() const { return {sum_.exclusive, sum_.total_ns}; }

 private:
  StepRoles sum_;
  std::size_t count_ = 0;
};

}  // namespace traceloom
