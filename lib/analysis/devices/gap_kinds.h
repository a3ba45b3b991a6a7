// The reasons why a device had no work, and the activity of the host meanwhile.
#pragma once

#include "analysis/devices/device_work.h"
#include "run/event_columns.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// BlockingCalls: finds the calls in which the host waits for a device. is_launching(): finds those
// that give work to it.
//
//   BlockingCalls blocking(run.labels);
//   if (blocking.holds(call)) use(run.labels.name(call.label), call.interval());
//
// Calls are recognised by name. The tables are in gap_kinds.cpp: a new runtime is a new line
// there.

// Returns how long a call of that name lasts at least when it waits: 0 if it always waits, the
// numeric limit if it never does. A copy that is only launched returns at once; one from or to
// memory that is not pinned returns when it is done, whatever its name says.
std::int64_t least_blocking_ns(std::string_view call);

// True for the name of a call that gives work to a device: a kernel, a graph, a copy or a fill.
bool is_launching(std::string_view call);

// True for operators of torch that read a value from a device. They block, even if no calls were
// recorded.
bool is_reading_operator(std::string_view op);

// Remembers earlier look-ups. `labels` must outlive it.
class BlockingCalls {
 public:
  explicit BlockingCalls(const Labels& labels) : labels_(labels), least_ns_(labels.size(), -1) {}

  bool holds(const CallSpan& call) {
    std::int64_t& least_ns = least_ns_[call.label];
    if (least_ns < 0) least_ns = least_blocking_ns(labels_.name(call.label));
    return call.end_ns - call.start_ns >= least_ns;
  }

 private:
  const Labels& labels_;
  std::vector<std::int64_t> least_ns_;  // indexed by label; -1: not looked up
};

// HostTimeline: the activity of a thread of the host at any instant.
//
//   HostTimeline host(run, rank);
//   host.for_each_part(call.track, gap.time, [&](const HostPart& part) { use(part.op); });
//
// The activity is the innermost operator, annotation, wait for data or other span of the host: the
// one that began last (of several, the one that ends first), and the call of the runtime in it.
// Steps and Python frames surround everything that the host does, so they are no activity.

struct HostPart {
  Interval time;
  std::string_view op;    // empty if nothing was recorded
  std::string_view call;  // empty outside of calls of the runtime
};

// Serves one rank; `run` must outlive it.
class HostTimeline {
 public:
  // Prepares only these tracks.
  HostTimeline(const Run& run, const RankEvents& rank, const std::set<std::uint32_t>& tracks);

  // Calls use(part) for parts that follow each other and fill `time`.
  template <typename Use>
  void for_each_part(std::uint32_t track, const Interval& time, Use use) const {
    for (const HostPart& part : parts_of(track, time)) use(part);
  }
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
  std::vector<HostPart> parts_of(std::uint32_t track, const Interval& time) const;

  std::map<std::uint32_t, Thread> threads_;
};

// GapKinds: the reason why a device had no work, for every instant of a gap. `idle` and
// `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   for (const GapPart& part : kinds.parts_of(gap)) sums[part.kind] += length_ns(part.time);
//
// - host wait: nothing was launched; the call that launched the next work began after the gap had.
//   If the work begins as soon as its call ends, all of the gap is host wait
// - queued: the work was launched and did not begin; the device was busy with unrecorded work, or
//   the work waited for another stream or another rank
// - blocked: host wait or queued, while the host is in a call that waits for the device
//   (gap_kinds.h). The host is the thread that launched the next work or, for work already
//   launched, the thread that launches next
// - not recorded: the launch of the next work is not in the traces
//
// If no event has a correlation, nothing was lost: gaps are then inferred to be host wait.

enum class GapKind : std::uint8_t { host_wait, queued, blocked, not_recorded };
inline constexpr std::size_t kGapKindCount = 4;
inline constexpr std::array<std::string_view, kGapKindCount> kGapKindNames{
    "host wait", "queued", "blocked", "not recorded"};
constexpr std::string_view gap_kind_name(GapKind kind) {
  return kGapKindNames[static_cast<std::size_t>(kind)];
}

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};
inline constexpr std::int64_t kUsualKernelGap = 30'000;  // ns

struct GapPart {
  Interval time;
  GapKind kind = GapKind::not_recorded;
  bool was_launched = false;             // queued, and blocked after the work had been launched
  bool is_kernel_wait = false;           // queued for less than the usual change between kernels
  std::uint32_t track = kNoTrack;        // thread that launched the next work, or that is blocked
  const HostSpan* blocked_in = nullptr;  // the blocking call
};

class GapKinds {
 public:
  // `work` is all work of the rank, in any order. The other arguments must outlive the object,
  // `work` need not.
  GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
           std::int64_t kernel_gap_ns = kUsualKernelGap);

  // The parts follow each other and fill the gap.
  std::vector<GapPart> parts_of(const DeviceGap& gap) const;
  // The same, into a list that the caller reuses.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // The same for a time after all work, in which nothing was launched.
  std::vector<GapPart> parts_behind(const Interval& time) const;
  // True if no event has a launch, so that host wait is inferred.
  bool infers() const { return infers_; }

 private:
  using Spans = std::vector<HostSpan>;

  void add_blocking(std::map<std::uint32_t, Spans> spans);
  std::uint32_t next_launcher(std::int64_t ns) const;
  void append(const GapPart& part, std::span<const std::uint32_t> tracks,
              std::vector<GapPart>& parts) const;

  std::int64_t kernel_gap_ns_;
  bool infers_ = true;
  std::map<std::uint32_t, Spans> blocking_;  // keyed by track; ascending, none within another
  std::vector<std::uint32_t> blocking_tracks_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;  // begin and track, ascending
};

}  // namespace traceloom
