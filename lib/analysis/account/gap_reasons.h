// Why a device has no work, and what the threads of its host did meanwhile.
#pragma once

#include "analysis/account/account.h"
#include "analysis/devices/device_work.h"
#include "run/intervals.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// HostTimeline: the activity of threads of the host at any instant.
//
//   HostTimeline host(run, rank, {call.track});
//   for (const HostPart& part : host.parts_of(call.track, gap.time)) use(part.op);
//
// The activity is the innermost operator, wait for data or other span of the host: the one that
// began last (of several, the one that ends first), and the call of the runtime in it. Steps,
// annotations and Python frames surround what the host does, so they are no activity.

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};
// Stands for the operator where the host did nothing that was recorded.
inline constexpr std::string_view kNothingRecorded = "(nothing recorded)";

struct HostPart {
  Interval time;
  std::string_view op;    // empty if nothing was recorded
  std::string_view call;  // empty outside of calls of the runtime
};

// Serves one rank; `run` must outlive it.
class HostTimeline {
 public:
  // Prepares only these tracks and, if `windows` are given, only these times.
  HostTimeline(const Run& run, const RankEvents& rank, const std::set<std::uint32_t>& tracks,
               const Intervals* windows = nullptr);

  // Returns parts that follow each other and fill `time`.
  std::vector<HostPart> parts_of(std::uint32_t track, const Interval& time) const;
  // Returns the op of the thread when `span` began; empty if nothing was recorded.
  std::string_view op_around(const HostSpan& span) const;

 private:
  struct Segment {
    Interval time;
    std::string_view name;
  };
  using Segments = std::vector<Segment>;
  struct Thread {
    Segments ops;
    Segments calls;
  };
  static Segments flatten(const Run& run, std::vector<HostSpan> spans);
  static Segments fill(const Segments& segments, const Interval& time);

  std::map<std::uint32_t, Thread> threads_;
};

// Returns the thread whose operators, other spans and calls take most time together; kNoTrack if
// there are none.
std::uint32_t busiest_thread(const RankEvents& rank);

// Sorts spans by begin. A span within another is left out; one that ends later begins at the
// other's end.
void remove_overlaps(std::vector<HostSpan>& spans);

// GapKinds: the reason why a device had no work, for every instant of a gap. `idle` and
// `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   kinds.find_parts(gap, parts);
//   for (const GapPart& part : parts) sums[part.kind] += length_ns(part.time);
//
// - host wait: nothing was launched. Work is launched when its call returns; a call that waits for
//   it, and one that launched the work before the gap as well, have launched it when they begin. If
//   the work begins as soon as its call ends, all of the gap is host wait
// - turn-around: the next work had been launched behind the last one in the same stream, so that
//   the device waited for nobody, however long it took
// - queued: the work had been launched and did not begin: it waited for another stream, another
//   rank, or work that was not recorded
// - blocked: host wait, while the thread that launched the next work is in a call that waits for
//   the device (least_blocking_ns())
// - not recorded: the launch of the next work is not in the traces
//
// If no event has a correlation, nothing was lost: gaps are then inferred to be host wait.

enum class GapKind : std::uint8_t { host_wait, turn_around, queued, blocked, not_recorded };
inline constexpr std::size_t kGapKindCount = 5;
inline constexpr std::array<std::string_view, kGapKindCount> kGapKindNames{
    "host wait", "turn-around", "queued", "blocked", "not recorded"};
constexpr std::string_view gap_kind_name(GapKind kind) {
  return kGapKindNames[static_cast<std::size_t>(kind)];
}

inline constexpr std::int64_t kUsualKernelGap = 30'000;  // ns

struct GapPart {
  Interval time;
  GapKind kind = GapKind::not_recorded;
  bool is_kernel_wait = false;     // launched, for less than the usual change between kernels
  std::uint32_t track = kNoTrack;  // thread that launched the next work, or that is blocked
  // The blocking call; if queued, the longest in which that thread sits meanwhile, if any.
  const HostSpan* blocked_in = nullptr;
};

class GapKinds {
 public:
  // `work` is all work of the rank, in any order. The other arguments must outlive the object,
  // `work` need not.
  GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
           std::int64_t kernel_gap_ns = kUsualKernelGap);

  // Fills a list, which the caller may reuse, with parts that follow each other and fill the gap.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // True if no event has a launch, so that host wait is inferred.
  bool infers() const { return infers_; }
  // Returns the threads that launched work; of more than `most` those that launched most.
  std::set<std::uint32_t> launching_tracks(std::size_t most) const;
  // Returns the thread that launched last; kNoTrack if none did.
  std::uint32_t last_launcher() const {
    return launches_.empty() ? kNoTrack : launches_.back().second;
  }
  // Returns the number of calls that launched work and began in one of these times.
  std::uint64_t launches_in(const Intervals& times) const;

 private:
  using Spans = std::vector<HostSpan>;

  std::int64_t launched_at(const DeviceGap& gap) const;
  std::span<const HostSpan> blocking_in(std::uint32_t track, const Interval& time) const;
  void append(GapPart part, std::uint32_t track, std::vector<GapPart>& parts) const;

  std::int64_t kernel_gap_ns_;
  std::vector<std::int64_t> least_blocking_ns_;  // by label, for calls that were selected; else -1
  bool infers_ = true;
  // Keyed by track, or kNoTrack if launches are inferred; ascending, none within another.
  std::map<std::uint32_t, Spans> blocking_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;  // begin and track, ascending
};

// HostReasons: what a thread of the host did while a device had nothing to do, by rows of the
// account.
//
//   HostReasons reasons(run, rank, kinds, free, long_gaps);
//   reasons.find(track, gap.time, [&](AccountRow row, std::int64_t ns, const HostPiece& piece) {
//     account[row].ns += ns;
//   });

// A part of a thread's time; its name is empty where no single event is meant.
struct HostPiece {
  HostSpan span;
  std::string_view name;
  std::int64_t beside_ns = 0;  // of idle: in which other threads run operators
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
    Thread(const Intervals& operators_and_calls, const Intervals& python,
           const Intervals& all_operators, const Intervals& free);

    Intervals works;
    Intervals code;
    Intervals beside;  // operators of other threads while this one does nothing
    IntervalLengths works_in;
    IntervalLengths code_in;
    IntervalLengths beside_in;
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
