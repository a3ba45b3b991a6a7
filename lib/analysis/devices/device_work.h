// The work of devices, stream by stream: its launches, its queue, and the gaps in it.
#pragma once

#include "analysis/report.h"
#include "run/launches.h"
#include "run/run.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
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

// DeviceGaps: the times at which a device, or a stream of it, had no work. GapKinds
// (account/gap_reasons.h) finds the reasons.
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
  std::uint32_t next = 0;  // label of that work
  bool is_in_stream = false;  // that work is in the stream that worked until the gap began
  bool is_of_launch = false;  // its call also launched the work before the gap: a graph

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
// True for the name of a call that waits for all streams of a device.
bool waits_for_device(std::string_view call);

// True for the name of a call that gives work to a device: a kernel, a graph, a copy or a fill.
bool is_launching(std::string_view call);

// True for operators of torch that read a value from a device. They block, even if no calls were
// recorded.
bool is_reading_operator(std::string_view op);

// Facts about devices besides times: what a run already does with them, and what in their rows is
// not understood.

// DeviceFacts: facts about a run that keep advice from recommending what the run already does.
//
//   const DeviceFacts facts = find_device_facts(run, basis.ranks, true, steps_of);
//   if (facts.has_graphs && !facts.replays_graphs && !facts.captures_graphs) advise("CUDA graphs");

struct DeviceFacts {
  bool has_graphs = false;           // a call of CUDA or HIP, which have graphs
  bool replays_graphs = false;       // a call launches a graph
  bool captures_graphs = false;      // calls or functions capture one
  bool has_torch = false;            // operators of torch
  bool compiles = false;             // torch.compile is in use
  std::int64_t kernel_ns = 0;        // time of kernels that compute
  std::int64_t longest_ns = 0;       // time of those of one name, which take longest
  std::string longest = {};          // that name
  std::int64_t longest_busy_ns = 0;  // time in which at least one of these runs on its rank
  std::size_t longest_n = 0;         // the number of these kernels
  std::int64_t copy_ns = 0;          // time of copies
  std::int64_t pageable_ns = 0;      // time of those from or to memory that is not pinned
  std::int64_t within_ns = 0;        // time of those within a device
};

// Looks at these ranks (indices into Run::ranks), and at the names of kernels only if `kernels`: at
// those that begin in the steps of their rank.
DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks, bool kernels,
                              const std::function<Intervals(std::size_t rank)>& steps_of);

// Whether any rank has events of a device.
bool has_devices(const Run& run);

// Whether names tell of a backward pass or an optimizer: else there are no gradients.
bool is_training(const Run& run);

// DeviceDoubts: the rows of devices in the traces that are not understood, so that no verdict can
// be stated about these devices.
//
//   const DeviceDoubts doubts(run);
//   if (!doubts.not_understood.empty()) note(doubts.not_understood);

// Spans of one row (and one category, if they have any) that look like work of a device.
struct UnknownRow {
  std::int64_t rank = 0;
  std::string_view process;
  std::string_view thread;
  std::string_view category;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  bool is_whole_device = false;  // no row of that device is understood
};

// Returns the rows in the order of rank, process, thread and category. The texts are views into
// the run, which must outlive them.
std::vector<UnknownRow> find_unknown_rows(const Run& run);

struct DeviceDoubts {
  DeviceDoubts() = default;
  explicit DeviceDoubts(const Run& run);

  // "rows of 'NPU 0' look like a device and are not understood (276 spans, 1.790 ms)", or the names
  // of spans of which nothing is known; empty if all is understood.
  std::string not_understood;
  // "rank0.json.gz is cut off: ...". torch.profiler writes operators first and the work of devices
  // last, so that a file without its end may lack all of one kind. Empty if every file is whole.
  std::string cut;
  // Names of the programs that take most of the devices' computing, the longest first: "'merge',
  // 'remote'". It is not known how much of a program is computing. Empty if kernels are recorded.
  std::string programs;
  // "the host gives work to a device (cudaLaunchKernel) that these traces do not hold"; empty if
  // there are devices, or nothing is launched.
  std::string not_recorded;
};

// Returns the times at which whole programs ran on a rank's devices.
Intervals find_programs(const Run& run, const RankEvents& rank);

// Returns the ranks that have files of several processes, one after the other: the ids of launches
// begin again.
std::vector<std::int64_t> ranks_of_several_runs(const Run& run);

// Adds a note that there is no work of devices, with the consequence `what_follows`. If there are
// devices that are not understood, the note names these instead.
void note_no_devices(const Run& run, Report& report, std::string_view what_follows);

// Returns "the launch of 2 of 70 pieces of device work is not in these traces".
std::string unlinked_text(std::uint64_t unlinked, std::uint64_t pieces,
                          std::string_view where = {});

}  // namespace traceloom
