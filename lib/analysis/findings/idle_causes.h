// IdleCauses: the causes of the time in steps in which no device works, no collective runs and no
// loop waits for data. Each instant has one cause; device_work.h finds the causes of gaps.
//
//   const IdleCauses causes = find_idle_causes(run, roles, basis.ranks);
//   causes.ns[IdleCause::blocked], causes.blocking.front().call      // "cudaMemcpyAsync"
//
// Before the first work of a device and after its last one there is no gap. There the host's events
// give the cause:
// - If the host works, the cause is host wait. But if the first work had been queued for long, the
//   device was busy with unrecorded work; the same holds for work that was launched at the end and
//   did not run any more.
// - If the host has no events, the time is idle between two of its events in steps that are marked.
//   Otherwise it is not recorded.
#pragma once

#include "analysis/waits/step_roles.h"
#include "analysis/work/call_tree.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

enum class IdleCause : std::uint8_t {
  launch,        // host wait: the host runs operators and calls
  host_code,     // host wait: only Python runs on the host, according to the recording
  idle,          // host wait: nothing that was recorded ran
  blocked,       // the host waits for the device
  queued,        // the work was launched and did not begin
  not_recorded,  // no event shows the reason
  count_
};

// A sum over parts of gaps.
struct CauseSum {
  std::int64_t ns = 0;
  std::size_t parts = 0;
  std::size_t ranks = 0;         // number of ranks that have any
  std::int64_t inferred_ns = 0;  // inferred from the host's events, because no event has a launch

  auto sums() { return std::tie(ns, parts, ranks, inferred_ns); }
};

// The calls of one name from one place.
struct BlockingSum {
  std::string call;
  std::string callers;  // the callers, the innermost first
  std::int64_t ns = 0;
  std::int64_t launched_ns = 0;  // time after work had been launched
  std::size_t calls = 0;
  std::int64_t longest_ns = 0;

  auto wired() { return std::tie(call, callers, ns, launched_ns, calls, longest_ns); }
};

struct IdleCauses : ByEnum<IdleCause, CauseSum> {
  void add(IdleCauses other);

  std::int64_t kernel_wait_ns = 0;    // queued between one kernel and the next
  std::int64_t queued_before_ns = 0;  // queued, before the first work of the trace
  std::int64_t launched_ns = 0;       // blocked, after work had been launched
  std::uint64_t work = 0;             // pieces of work of devices
  std::uint64_t linked = 0;           // pieces with a known launch
  std::vector<BlockingSum> blocking;  // sorted by time, the longest first
  std::vector<FrameSum> frames;       // functions of host_code, the longest first

  auto sums() { return std::tie(kernel_wait_ns, queued_before_ns, launched_ns, work, linked); }
  auto wired() { return std::tuple_cat(ByEnum::wired(), std::tie(blocking, frames), sums()); }
};

// Uses the steps that count, of these ranks; `roles` has one entry for each rank of the run. Ranks
// without devices have no causes.
IdleCauses find_idle_causes(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks);

}  // namespace traceloom
