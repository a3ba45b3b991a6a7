// IdleCauses: what the part of steps is in which no device works, no collective runs and nobody
// waits for data. Each instant is of one cause; gaps of devices are told apart by gap_kinds.h.
//
//   const IdleCauses causes = find_idle_causes(run, roles, basis.ranks);
//   causes.ns[IdleCause::blocked], causes.blocking.front().call      // "cudaMemcpyAsync"
//
// Before the first work of a device and after its last one there is no gap. What the host was seen
// to do there is host wait, unless the first work had been queued for long: then the device was
// busy with what was not recorded. So is what was launched at the end and did not run any more.
// Where nothing was seen, it is not recorded, but in steps that are marked: there it is idle.
#pragma once

#include "analysis/waits/step_roles.h"
#include "analysis/work/host_frames.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class IdleCause : std::uint8_t {
  launch,        // host wait: the host runs operators and calls
  host_code,     // host wait: the host runs Python, and nothing else that was recorded
  idle,          // host wait: nothing that was recorded ran
  blocked,       // the host waits for the device
  queued,        // launched and not begun
  not_recorded,  // nothing tells why
  count_
};
inline constexpr std::size_t kIdleCauseCount = static_cast<std::size_t>(IdleCause::count_);

// A sum over parts of gaps.
struct CauseSum {
  std::int64_t ns = 0;
  std::size_t parts = 0;
  std::size_t ranks = 0;         // that have any
  std::int64_t inferred_ns = 0;  // by what the host did, since no event tells a launch

  void add(const CauseSum& other);
};

// Calls of one name from one place.
struct BlockingSum {
  std::string call;
  std::string callers;  // what was around it, the innermost first
  std::int64_t ns = 0;
  std::int64_t launched_ns = 0;  // while work had been launched
  std::size_t calls = 0;
  std::int64_t longest_ns = 0;
};

class IdleCauses {
 public:
  CauseSum& operator[](IdleCause cause) { return sums_[static_cast<std::size_t>(cause)]; }
  const CauseSum& operator[](IdleCause cause) const {
    return sums_[static_cast<std::size_t>(cause)];
  }
  void add(const IdleCauses& other);

  std::int64_t kernel_wait_ns = 0;    // queued between one kernel and the next
  std::int64_t queued_before_ns = 0;  // queued, before the first work of the trace
  std::int64_t launched_ns = 0;       // blocked, while work had been launched
  std::uint64_t work = 0;             // of devices
  std::uint64_t linked = 0;           // of these, with their launches
  std::vector<BlockingSum> blocking;  // the most first
  std::vector<FrameSum> frames;       // of host_code, the most first

 private:
  std::array<CauseSum, kIdleCauseCount> sums_;
};

// Of the steps that count, of these ranks; one RankRoles for each rank of the run. Ranks without
// devices have none.
IdleCauses find_idle_causes(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks);

}  // namespace traceloom
