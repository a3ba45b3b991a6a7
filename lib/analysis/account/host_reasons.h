// HostReasons: what a thread of the host did while a device had nothing to do, by rows of the
// account.
//
//   HostReasons reasons(run, rank, kinds, free, long_gaps);
//   reasons.find(track, gap.time, [&](AccountRow row, std::int64_t ns, const HostPiece& piece) {
//     account[row].ns += ns;
//   });
#pragma once

#include "analysis/account/account.h"
#include "analysis/account/gap_kinds.h"
#include "analysis/account/host_timeline.h"
#include "run/intervals.h"
#include "run/run.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace traceloom {

// A part of a thread's time; its name is empty where no single event is meant.
struct HostPiece {
  HostSpan span;
  std::string_view name;
};

// Serves one rank; the run and `free` must outlive it.
class HostReasons {
 public:
  // An operator or a call of at least this length is more than a launch.
  static constexpr std::int64_t kLeastPiece = 200'000;  // ns
  // Training launches from fewer threads; each has sets of its own.
  static constexpr std::size_t kMostThreads = 8;

  // `free` is the time to explain, and `windows` are the times of at least kLeastPiece that
  // find() is asked for. `tracks` are the threads that launch most work (at most kMostThreads).
  // Others count together, without the names of their operators and calls; if there are no
  // launches, the names are those of the busiest thread.
  HostReasons(const Run& run, const RankEvents& rank, const RankRoles& roles, const Intervals& free,
              const Intervals& windows, const std::set<std::uint32_t>& tracks);

  using Use = std::function<void(AccountRow, std::int64_t, const HostPiece&)>;
  // Calls use() for parts that add up to the free time in `time`, which must not be far before an
  // earlier one. A region of compiled code is full of launches, and is itself no operator.
  void find(std::uint32_t track, const Interval& time, const Use& use);
  // The free time in which only Python ran on that thread.
  const Intervals& code(std::uint32_t track) const { return threads_.at(known(track))->code; }

 private:
  // The time of a set that is free, and of the spans in it, which do not overlap.
  struct Named {
    void find(AccountRow row, const Interval& time, const Labels& labels, const Use& use,
              std::int64_t& rest_ns);

    std::vector<HostSpan> spans;
    Intervals set;
    std::unique_ptr<IntervalLengths> in;
  };
  struct Thread {
    Thread(Intervals operators_and_calls, const Intervals& python, const Intervals& free);

    Intervals works;
    Intervals code;
    IntervalLengths works_in;
    IntervalLengths code_in;
  };

  // Takes the time of the spans out of `free`.
  static Named take(std::vector<HostSpan> spans, Intervals& free);
  std::uint32_t known(std::uint32_t track) const {
    return threads_.contains(track) ? track : kNoTrack;
  }

  const Run& run_;
  Named profiler_;
  Named capture_;
  IntervalLengths free_in_;
  std::map<std::uint32_t, std::unique_ptr<Thread>> threads_;  // by track; kNoTrack: all together
  std::uint32_t named_ = kNoTrack;  // the thread whose names stand for all together, if any
  std::unique_ptr<HostTimeline> timeline_;
};

}  // namespace traceloom
