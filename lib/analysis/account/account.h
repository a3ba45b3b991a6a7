// Account: where the time of steps goes. Every nanosecond of a step of a rank is in exactly one
// row, and the rows add up to the steps.
//
//   const Account account = find_account(run, roles, basis.ranks);
//   account[AccountRow::blocked].ns
//   account[AccountRow::blocked].names.front().name            // "cudaMemcpyAsync"
//
// While a device works, a collective runs or the loop waits for data, the row is that of the role
// (step_roles.h). Else it is the reason why no device works (gap_reasons.h); where the host had
// launched nothing, it is what the thread did that launched the next work:
// - profiler, capture: the profiler worked for itself, or the thread captured a graph
// - host_operator, host_call: an operator without another one in it, or a call of the runtime, went
//   on for 200 us or more: launching takes 5 to 50. Those in less than half of the steps are once;
//   without several marked steps all calls are, and operators that do not recur (NamedTime)
// - launch: any other operator or call
// - host_code: Python alone
// - idle: nothing that was recorded
// Before the first and after the last work of a rank's devices nothing is known about them: that
// time is outside, whatever the host does in it.
//
// A rank without devices has the rows of its host: operators, calls, Python, and not_recorded.
#pragma once

#include "analysis/waits/step_roles.h"
#include "analysis/work/call_tree.h"
#include "base/by_enum.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

enum class AccountRow : std::uint8_t {
  kernel,
  communication,
  memcpy,
  memset,
  dataloader,
  turn_around,
  queued,
  blocked,
  launch,
  host_operator,
  host_call,
  host_code,
  profiler,
  capture,
  idle,
  once,
  outside,
  not_recorded,
  count_
};
constexpr std::string_view account_row_name(AccountRow row) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(AccountRow::count_) + 1> kNames{
      "kernel",      "communication", "memcpy",       "memset",  "dataloader",
      "turn-around", "queued",        "blocked",      "launch",  "host-operator",
      "host-call",   "host-code",     "profiler",     "capture", "idle",
      "once",        "outside",       "not-recorded", "others"};
  return kNames[static_cast<std::size_t>(row)];
}

// The time of one operator, call or function in a row.
struct NamedTime {
  std::string name;
  std::string callers = {};  // of the longest one, the innermost first
  std::int64_t ns = 0;
  std::size_t n = 0;
  std::size_t steps = 0;  // number of steps in which the row has that name, whoever the callers are
  std::int64_t longest_ns = 0;
  bool recurs = true;       // false for operators whose calls in one step are not alike
  std::string caller = {};  // the innermost, of all
};

inline constexpr std::int64_t kLongPart = 100'000;  // ns; a longer gap is no launch's

struct AccountSum {
  std::int64_t ns = 0;
  std::size_t n = 0;             // parts of gaps; for roles, events in the steps
  std::int64_t longest_ns = 0;   // the longest part; 0 for roles
  std::int64_t long_ns = 0;      // time of parts of at least kLongPart
  std::int64_t inferred_ns = 0;  // inferred from the host's events, because no event has a launch
  std::vector<NamedTime> names = {};  // the longest first; of launch, roles and gaps none
  std::string before = {};            // the work that a device began behind the longest part

  void lengthen(std::int64_t part_ns, std::string_view work = {}) {
    if (part_ns <= longest_ns) return;
    longest_ns = part_ns;
    before = work;
  }
  // Returns nothing with a time of 0 if there are no names.
  NamedTime longest() const { return names.empty() ? NamedTime() : names.front(); }
};

struct Account : ByEnum<AccountRow, AccountSum> {
  std::uint64_t work = 0;        // pieces of work of devices
  std::uint64_t linked = 0;      // pieces with a known launch
  std::uint64_t unlinked = 0;    // pieces in the steps without one
  std::uint64_t shorter = 0;     // pieces that took the device less time than their call the host
  std::uint64_t launches = 0;    // calls in the steps that launched work
  std::int64_t beside_ns = 0;    // time of idle in which other threads of the host work
  std::vector<FrameSum> frames;  // functions of host_code, the longest first

  auto wired() {
    return std::tuple_cat(ByEnum::wired(),
                          std::tie(work, linked, unlinked, shorter, launches, beside_ns, frames));
  }
};

// A part of a gap in the work of a rank's devices, and the row that has most of it.
struct IdleGap {
  Interval time;
  AccountRow row;
  std::int64_t ns;             // of the row
  std::string_view name = {};  // the event with most of that; empty if the row names none
};
using IdleGaps = std::vector<IdleGap>;

// Uses the steps that count, of these ranks; `roles` has one entry for each rank of the run. Fills
// `gaps`, if given, with those of each rank of the run, ascending.
Account find_account(const Run& run, const std::vector<RankRoles>& roles,
                     const std::vector<std::size_t>& ranks, std::vector<IdleGaps>* gaps = nullptr);

}  // namespace traceloom
