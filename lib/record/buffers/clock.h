// The clock of the recorder: ticks and the nanoseconds made of them, and the times at which
// ranks meet at a barrier.
#pragma once

#include "record/session.h"
#include "record/slots.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <time.h>
#include <vector>

namespace traceloom::record {

// choose_clock(), TimeLine: ticks are the times that markers store, and the writer makes
// nanoseconds of them.
//
//   choose_clock(ClockChoice::automatic);
//   TimeLine line(read_clock_pair());
//   ... line.add(read_clock_pair());             // now and then
//   std::int64_t unix_ns = line.ns(detail::now());
//
// Ticks are the processor's time stamp counter, or nanoseconds of CLOCK_MONOTONIC.

namespace detail {

extern std::atomic<bool> clock_is_tsc;

inline std::uint64_t now() noexcept {
  if (clock_is_tsc.load(std::memory_order_relaxed)) return read_counter();
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace detail

// One moment on all clocks.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
  std::int64_t bracket_ns = 0;  // between the two readings around the others
};

// Returns the best of a few tries: its bracket is some 20 ns, more if the thread is interrupted
// every time.
ClockPair read_clock_pair();

// The costs of clock_gettime(), and of the system call of that name: the least of many tries, in
// ticks.
struct ClockCosts {
  std::uint64_t page_ticks = 0;
  std::uint64_t call_ticks = 0;
};
// Measures the costs. The processor must have a counter.
ClockCosts measure_clock_costs();

// Returns whether the kernel keeps time by the processor's counter: it says so ("tsc"), or a
// program reads the time from a page, without a system call. No other clock can be read so: a page
// of kvm-clock, Xen or Hyper-V has the counter's rate and offset, and is used only while the
// hypervisor says that the counter is stable and the same on all processors.
bool is_kept_by_counter(const std::string& source, const ClockCosts& costs);
// Returns whether that is so and the processor says that its counter always runs at one speed.
bool is_tsc_reliable();
// Decides what detail::now() reads. Must not be called while anything is recorded.
void choose_clock(ClockChoice choice);
// Notes that the counter was wrong: from the next choose_clock() on, ClockChoice::automatic does
// not use it.
void distrust_counter();

// Makes nanoseconds of ticks. The line is piecewise straight and never steps back: it bends when
// the counter's speed turns out to be a little different. Not thread-safe.
class TimeLine {
 public:
  // The line from one pair on.
  struct Segment {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
    double ns_per_tick = 1;
  };

  explicit TimeLine(const ClockPair& start);
  // Takes a line that another process has made.
  TimeLine(const ClockPair& start, std::vector<Segment> segments);
  // Adds a pair that the line follows. Times are the real time at `start`, and from there on what
  // CLOCK_MONOTONIC adds.
  void add(const ClockPair& pair);
  // Returns the difference between the line and a new pair, without following it.
  std::int64_t check(const ClockPair& pair);

  // False until two pairs are far enough apart to know the counter's speed.
  bool is_ready() const { return is_ready_; }
  const ClockPair& start() const { return start_; }
  const ClockPair& last() const { return last_; }
  const Segment& last_segment() const { return segments_.back(); }
  // Returns the largest difference between the line and a new pair, except the first.
  std::int64_t worst_error_ns() const { return worst_error_ns_; }

  std::int64_t ns(std::uint64_t ticks) const {
    const Segment& last = segments_.back();
    return at(ticks >= last.ticks ? last : segment_of(ticks), ticks);
  }
  // Returns whether the ticks are a time at all: ticks read from a damaged file may be anything.
  bool has(std::uint64_t ticks) const;
  static std::int64_t at(const Segment& segment, std::uint64_t ticks) {
    const auto passed = static_cast<std::int64_t>(ticks - segment.ticks);
    return segment.ns +
           static_cast<std::int64_t>(static_cast<double>(passed) * segment.ns_per_tick);
  }

 private:
  const Segment& segment_of(std::uint64_t ticks) const;

  ClockPair start_;
  ClockPair last_;
  bool is_tsc_;
  bool is_ready_;
  std::vector<Segment> segments_;
  std::int64_t worst_error_ns_ = 0;
};

// The least time between the first two pairs; the speed is then off by 1 ppm.
inline constexpr std::int64_t kLeastBaselineNs = 20'000'000;

// meet(), sync_value(): stamp the times at which ranks meet at a barrier, so that their files can
// be merged.
//
//   SyncRounds rounds = meet(options.barrier, 16);
//   sync_value(rounds, line)     // Composer's two numbers
//
// Nobody leaves a barrier before everybody has entered it. So in each round the enter of any rank
// comes before the exit of any other, and all rounds together give the offset of two clocks with a
// bound that holds: max(enter_r - exit_0) <= clock_r - clock_0 <= min(exit_r - enter_0).

// Ticks at which this rank entered and left each barrier.
struct SyncRounds {
  std::vector<std::uint64_t> enter;
  std::vector<std::uint64_t> exit;
};

SyncRounds meet(const std::function<void()>& barrier, unsigned rounds);

// One moment that all ranks stamp within the bound, in the form that Composer's merger wants: the
// mean of the middles of all rounds but the first, in which ranks wait for the last one. The
// numbers are whole microseconds.
struct SyncValue {
  std::int64_t timestamp_us = 0;
  std::int64_t error_bound_us = 0;
};
SyncValue sync_value(const SyncRounds& rounds, const TimeLine& line);

// The functions return the args of metadata events, as JSON objects.
std::string rounds_json(const SyncRounds& rounds, const TimeLine& line, const char* group);
std::string pair_json(const ClockPair& pair, const char* when);
std::string host_json();  // name, boot_id, time namespace, the process's id
std::string ntp_json();   // what the system knows of its own clock

// Returns the id of this boot of the machine; processes with equal ids share CLOCK_MONOTONIC. Empty
// if unknown.
std::string boot_id();

}  // namespace traceloom::record
