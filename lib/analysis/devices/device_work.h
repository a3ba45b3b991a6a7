// The work of devices, stream by stream: its launches, its queue, and the gaps in it, with their
// reasons and the activity of the host meanwhile.
#pragma once

#include "run/launches.h"
#include "run/run.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// DeviceWork: the work of each stream of a rank's devices in time order, each piece with the call
// of the host that launched it.
//
//   for (const auto& [stream, work] : find_device_work(rank).streams) use(stream.device, work);
//
// A call is found by the correlation, even if --time or --steps did not select it. Work that names
// no stream is in one stream of its device, number -1.

struct WorkPiece {
  DeviceSpan span;
  const CallSpan* call;  // nullptr if no call with its correlation was recorded
};

// Ascending by start; of pieces that start together, the one launched first comes first.
using WorkList = std::vector<WorkPiece>;

struct StreamKey {
  std::int32_t device = 0;
  std::int32_t stream = -1;

  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

struct DeviceWork {
  std::map<StreamKey, WorkList> streams;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;  // pieces without a call

  // Returns all streams of each device together.
  std::map<std::int32_t, WorkList> devices() const;
};

// The calls belong to `rank`, which must outlive the result.
DeviceWork find_device_work(const RankEvents& rank);
// Returns all streams of all devices of a rank together.
WorkList all_work(const RankEvents& rank);

// DeviceGaps: the times at which a device, or a stream of it, had no work. GapKinds finds the
// reasons.
//
//   for (const DeviceGap& gap : find_gaps(work, 30'000)) idle_ns += gap.length_ns();
//
// A gap lasts from the end of all earlier work until the next work begins. HTA has three kinds of
// gaps, by the launch of the next work:
// - host wait: the launching call began after the gap had
// - kernel wait: the work had been launched, and came within `kernel_gap_ns`
// - other: the work had been launched, and came later, or its launch was not recorded
//
// HTA's gap comes after the work that started last; here it comes after all earlier work.

enum class HtaGap : std::uint8_t { host_wait, kernel_wait, other };
inline constexpr std::size_t kHtaGapCount = 3;

struct DeviceGap {
  Interval time;
  HtaGap kind;
  const CallSpan* launch;  // launch of the work that ends the gap; nullptr if it was not recorded

  std::int64_t length_ns() const { return time.to_ns - time.from_ns; }
};

// Returns gaps in ascending order that do not touch the work; `work` is as in DeviceWork. Time
// between two recordings is no gap: see RankEvents::unrecorded.
std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded = {});

// Returns the time from the begin of the first work to the end of the last, summed over all
// recordings.
std::int64_t worked_ns(const WorkList& work, const Intervals& unrecorded);

// find_launches, find_queue: the launches of a stream, how long each waited to begin, and the
// length of the queue.
//
//   for (const Launch& launch : find_launches(work)) delays.push_back(launch.delay_ns());
//   std::vector<QueueChange> queue = find_queue(launches);
//
// A launch is the work that one call gave to one stream: mostly one piece, many for a CUDA graph.
// It waits from the end of the call until its first piece begins, and is in the queue of its stream
// from the begin of the call until then.

struct Launch {
  const CallSpan* call;
  std::int64_t start_ns;       // start of its first piece
  std::int64_t device_ns = 0;  // time of all its pieces
  std::int64_t pieces = 0;

  std::int64_t call_ns() const { return call->end_ns - call->start_ns; }
  // Returns 0 if it began before the end of its call.
  std::int64_t delay_ns() const { return start_ns > call->end_ns ? start_ns - call->end_ns : 0; }
  // True if launching it took the host longer than the device needed for it.
  bool is_short() const { return device_ns < call_ns(); }
};

// Sorted by begin; work without a recorded launch is left out.
std::vector<Launch> find_launches(const WorkList& work);

// From `at_ns` until the next change, `length` launches wait.
struct QueueChange {
  std::int64_t at_ns;
  std::int64_t length;
};

// Returns two changes for each launch, ascending. In the same nanosecond, launches come before
// begins, so that the length never gets negative. Work that begins before its call (the clocks of
// device and host differ) counts as launched when it begins.
std::vector<QueueChange> find_queue(const std::vector<Launch>& launches);

// is_launching(): finds the calls that give work to a device.
//
// Calls are recognised by name. The tables are in device_work.cpp: a new runtime is a new line
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

// HostTimeline: the activity of a thread of the host at any instant.
//
//   HostTimeline host(run, rank);
//   for (const HostPart& part : host.parts_of(call.track, gap.time)) use(part.op);
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

// GapKinds: the reason why a device had no work, for every instant of a gap. `idle` and
// `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   kinds.find_parts(gap, parts);
//   for (const GapPart& part : parts) sums[part.kind] += length_ns(part.time);
//
// - host wait: nothing was launched; the call that launched the next work began after the gap had.
//   If the work begins as soon as its call ends, all of the gap is host wait
// - queued: the work was launched and did not begin; the device was busy with unrecorded work, or
//   the work waited for another stream or another rank
// - blocked: host wait or queued, while the host is in a call that waits for the device
//   (least_blocking_ns()). The host is the thread that launched the next work or, for work already
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

  // Fills a list, which the caller may reuse, with parts that follow each other and fill the gap.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // The same for a time after all work, in which nothing was launched.
  void find_parts_behind(const Interval& time, std::vector<GapPart>& parts) const;
  // True if no event has a launch, so that host wait is inferred.
  bool infers() const { return infers_; }

 private:
  using Spans = std::vector<HostSpan>;

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
