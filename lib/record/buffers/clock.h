// Ticks, the time that markers store, and how the writer makes nanoseconds of them.
//
//   choose_clock(ClockChoice::automatic);
//   TimeLine line(read_clock_pair());
//   ... line.add(read_clock_pair());             // now and then
//   std::int64_t unix_ns = line.ns(detail::now());
//
// Ticks are the processor's time stamp counter, or nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include "record/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::record {

// One moment on all clocks.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
  std::int64_t bracket_ns = 0;  // between the two readings around those of the others
};

// The best of a few tries: some 20 ns, more when the thread is interrupted every time.
ClockPair read_clock_pair();

// What clock_gettime() costs, and the system call of that name: the least of many tries, in ticks.
struct ClockCosts {
  std::uint64_t page_ticks = 0;
  std::uint64_t call_ticks = 0;
};
// Of a processor that has a counter.
ClockCosts measure_clock_costs();

// Whether the kernel keeps time by the processor's counter: it says so ("tsc"), or a program reads
// the time from a page, without a system call. There is no other clock that can be read so: a page
// of kvm-clock, Xen or Hyper-V has the counter's rate and offset, and is used only while the
// hypervisor says that the counter is stable and one on all processors.
bool is_kept_by_counter(const std::string& source, const ClockCosts& costs);
// Whether besides the processor says that its counter runs at one speed, always.
bool is_tsc_reliable();
// Decides what detail::now() reads. While nothing is recorded.
void choose_clock(ClockChoice choice);
// It was wrong: from the next choose_clock() on ClockChoice::automatic is none of the counter.
void distrust_counter();

// Piecewise straight, and never steps back: where the counter's speed turns out to be a little
// different, the line bends. Not thread-safe.
class TimeLine {
 public:
  // How the line goes from one pair on.
  struct Segment {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
    double ns_per_tick = 1;
  };

  explicit TimeLine(const ClockPair& start);
  // One that another process has made.
  TimeLine(const ClockPair& start, std::vector<Segment> segments);
  // Times are the real time at `start`, and from there on what CLOCK_MONOTONIC adds.
  void add(const ClockPair& pair);
  // The difference between the line and a new pair that it does not follow.
  std::int64_t check(const ClockPair& pair);

  // False until two pairs are far enough apart to know the counter's speed.
  bool is_ready() const { return is_ready_; }
  const ClockPair& start() const { return start_; }
  const ClockPair& last() const { return last_; }
  const Segment& last_segment() const { return segments_.back(); }
  // The largest difference between the line and a new pair, but for the first.
  std::int64_t worst_error_ns() const { return worst_error_ns_; }

  std::int64_t ns(std::uint64_t ticks) const {
    const Segment& last = segments_.back();
    return ticks >= last.ticks ? at(last, ticks) : earlier_ns(ticks);
  }
  // Whether they are a time at all: ticks that are read of a damaged file may be anything.
  bool has(std::uint64_t ticks) const;
  static std::int64_t at(const Segment& segment, std::uint64_t ticks) {
    const auto passed = static_cast<std::int64_t>(ticks - segment.ticks);
    return segment.ns +
           static_cast<std::int64_t>(static_cast<double>(passed) * segment.ns_per_tick);
  }

 private:
  const Segment& segment_of(std::uint64_t ticks) const;
  std::int64_t earlier_ns(std::uint64_t ticks) const;

  ClockPair start_;
  ClockPair last_;
  bool is_tsc_;
  bool is_ready_;
  std::vector<Segment> segments_;
  std::int64_t worst_error_ns_ = 0;
};

// The least time between the first two pairs: a speed that is off by 1 ppm.
inline constexpr std::int64_t kLeastBaselineNs = 20'000'000;

}  // namespace traceloom::record
