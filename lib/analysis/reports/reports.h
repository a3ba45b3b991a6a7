// The answers of trace-stats' commands, each a function of the run (x_report.cpp). What a table has
// is described here; its keys are in docs/commands/.
#pragma once

#include "analysis/account/gap_reasons.h"
#include "analysis/report.h"
#include "analysis/snapshots/memory_files.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/step_roles.h"
#include "analysis/work/call_tree.h"
#include "select/selection.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// `trace-stats bottleneck`: finds the limit of the run, its evidence, and what to do next.

// docs/commands/bottleneck.md lists the keys of the values "verdict", "steps" and "ranks".
//
// "status" is "measured", "inferred" or "cannot tell". "n" is the number of events or steps.
// "launches" counts the pieces of "device_work" whose calls are known. "of" names the steps to
// which all shares and "roles" refer. The lengths in "steps" are those on the rank on which a step
// takes longest.
struct BottleneckAnswer {
  Report report;
  Verdict verdict;
};
BottleneckAnswer bottleneck_report(const Run& run);

// `trace-stats check`: lists the problems of each file.

// Losses come first. `severity` is loss (something in the file is missing from the result), notice
// (repaired) or info; "error" means that the file could not be read.
struct CheckAnswer {
  Report report;
  bool has_loss = false;
};
CheckAnswer check_report(const Run& run);

// `trace-stats comm`: shows how fast collectives are, and which ranks come late to them.

struct CommOptions {
  bool each = false;  // add a table with one row for each matched collective
};

// Values of a row are means over its collectives, waits are means over their parts; they are null
// if only one rank has the collective. For sends and receives, latency and bandwidths describe the
// transfer; there are no bandwidths if the other end is not known.
Report comm_report(const Run& run, const CommOptions& options);

// `trace-stats dataloader`: decides whether the input limits the run.

// The share of the job is exposed_ns divided by of_ns. "of" names the steps to which bottleneck's
// shares refer, too.
Report dataloader_report(const Run& run);

// `trace-stats gpu`: shows how busy the devices are, and what computation does not hide.

// The times of one device of a rank. compute + exposed_comm + exposed_memcpy + idle = total.
struct DeviceTimes {
  std::int64_t rank = 0;
  std::int32_t device = 0;
  std::int64_t total_ns = 0;           // time from its first to its last event
  std::int64_t compute_ns = 0;         // kernels except collectives, and memset
  std::int64_t exposed_comm_ns = 0;    // collectives while nothing computes
  std::int64_t exposed_memcpy_ns = 0;  // copies while nothing computes or communicates
  std::int64_t idle_ns = 0;
  std::int64_t kernel_ns = 0;  // kernels except collectives: HTA's compute time
  std::int64_t comm_ns = 0;    // collectives
  std::int64_t memcpy_ns = 0;
  std::int64_t overlap_ns = 0;  // time of collectives while kernels compute
  std::int64_t busy_ns() const { return total_ns - idle_ns; }
  // Share of the time from the first step's begin to the last one's end in which kernels run,
  // including collectives.
  std::optional<double> utilization;
  // The same weighted by min(1, blocks per SM), if kernels have it; tb_plugin's estimate.
  std::optional<double> sm_efficiency;
  std::optional<double> occupancy;  // estimated achieved occupancy, weighted by the kernels'
                                    // durations; 0 to 1
};

// Sorted by rank and device. The last two members are not known if the run was read without
// details.
std::vector<DeviceTimes> device_times(const Run& run);

Report gpu_report(const Run& run);

// `trace-stats host`: shows the state of the machine during the training, and while the loop waited
// for data.

struct HostOptions {
  bool by_rank = false;
  bool all = false;  // include counters that are always 0
  // The spans of the host whose names it matches replace the wait for data.
  std::optional<NamePattern> during = {};
};

// "kind" is level, or rate for a counter that counts from some beginning. "during" is the mean
// while the rank waited for its data, or while the spans of --during ran; "elsewhere" is the mean
// in the rest of its steps. Both weight a value by the part of its time in these moments. The run
// must have been read with samples.
Report host_report(const Run& run, const HostOptions& options);

// `trace-stats idle`: explains why the devices wait.

struct IdleOptions {
  std::int64_t kernel_gap_ns = kUsualKernelGap;  // see gap_reasons.h
  std::size_t host_rows = 20;                    // rows of "hosts"; all others form one
};

// The table "rows" is of whole devices; "streams" is the same by stream, which is null if the
// events name none.
//
// host_wait + turn_around + queued + blocked + not_recorded = idle (gap_reasons.h), and so is the
// sum of HTA's three kinds (device_work.h); kernel_wait is part of turn_around and queued. "hosts"
// shows the activity, in gaps of whole devices, of the thread that launched the work at the end of
// the gap, or that is blocked; the rows add up to all idle time.
Report idle_report(const Run& run, const IdleOptions& options);

// `trace-stats info`: describes the content of each file.

// The table "categories" has the spans that analyses use. "not_understood" is there if some rows
// look like a device and are not understood.
Report info_report(const Run& run);

// Adds a table "clocks" with the clocks that collectives give, if a file shares some with the
// reference. The command check uses it, too.
void add_clocks(const Run& run, Report& report);

// `trace-stats kernels`: shows the kernels that take the time of the devices.

// The properties that separate the rows of a table of kernels. All except name, type and rank need
// a run that was read with details, shape and arguments one that was read with arguments.
struct KernelsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_operator = false;   // the operator that launched it
  bool by_shape = false;      // the shapes of that operator's arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_launch = false;     // grid, block, registers, shared memory
  bool by_stream = false;     // device and stream
  bool by_rank = false;
};

// The rows are sorted by total. Columns of properties that do not separate rows are left out.
// tensor_core_share, also that in "totals", covers only kernels whose names show whether they use
// tensor cores, and is null if none does; unknown_share is the share of the others. A short kernel
// takes less than 10 us. Blocks per SM and occupancy are means by duration. Shares refer to the
// time of all kernels, gpu_share to the time from the first to the last work of all devices, for
// each recording.
Report kernels_report(const Run& run, const KernelsOptions& options);

// `trace-stats launch`: shows whether the host launches work fast enough, and which calls launch
// too little work at a time.

struct LaunchOptions {
  std::size_t op_rows = 20;  // number of rows of "ops"
};

// HTA's limits for slow calls and late work.
inline constexpr std::int64_t kSlowCallNs = 50'000;
inline constexpr std::int64_t kLateWorkNs = 100'000;
// The number of launches that fit into the queue of a CUDA stream.
inline constexpr std::int64_t kFullQueue = 1024;

// The table "rows" is by stream, and "calls" by the name of the call; "ops" is by the launching
// operator, those with the most short launches first.
//
// "work" counts all pieces, "launches" those whose call was recorded. "queues" has the length of
// the queue after each launch and each begin of work, and shares of time.
Report launch_report(const Run& run, const LaunchOptions& options);

// `trace-stats longest`: shows the longest spans of all ranks.

struct LongestOptions {
  std::size_t top = 20;
};

// The run holds the spans that surround others if its request says `frames`.
Report longest_report(const Run& run, const LongestOptions& options);

// `trace-stats memcpy`: shows the copies and fills of devices, and their speed.

// A copy, or a fill of memory.
struct Transfer {
  std::string kind;    // "Memcpy HtoD", "Memset"
  std::string memory;  // "Pageable -> Device"; empty if the name has none
  std::int64_t rank = 0;
  std::int32_t device = 0;
  Interval time;
  std::optional<std::int64_t> bytes;  // bytes in the event
  // 1e9 bytes a second. The event's own value is preferred, because it is based on a duration in
  // nanoseconds even if the trace has whole microseconds; otherwise it is bytes by duration. Absent
  // if neither is known.
  std::optional<double> gbps;
};

// Sorted by rank. The run must have been read with details.
std::vector<Transfer> find_transfers(const Run& run);

// The properties that separate rows, in addition to kind and memory.
struct MemcpyOptions {
  bool by_rank = false;
  bool by_device = false;
};

// The rows are sorted by total. Columns of properties that do not separate rows are left out. gbps
// is bytes by time over all transfers with a known bandwidth; the other bandwidths describe single
// transfers. exposed_ns is the time in which nothing computes or communicates on the device.
Report memcpy_report(const Run& run, const MemcpyOptions& options);

// `trace-stats memory`: shows the use of memory by device, operator, counter and profiled function,
// and what files about memory say.

struct MemoryOptions {
  bool by_rank = false;        // separate rows of operators and functions for each rank
  std::size_t operators = 10;  // rows a device in each table of operators; 0: all
  std::size_t curve = 0;       // points of the curve of each device; 0: no table of curves
  bool all_values = false;     // include values that are always 0, see MemoryStatsOptions::all
  // The number of the argument with the snapshots before; those after are the next one.
  std::optional<std::size_t> base = {};
};

// The tables "operators", "peak" and "unfreed" have the operators that allocated the memory; "host"
// has counters of memory, and "functions" memory stats (memory_stats.h) from "stats_files".
// add_memory_files() has those of snapshots, trackers and timelines.
//
// CSV has the first table that is not empty. The run must have been read with details and samples.
Report memory_report(const Run& run, const MemoryFiles& files, const MemoryOptions& options);

// `trace-stats ops`: shows the operators that take the time of the host and of devices.

// The properties that separate the rows of a table of operators. The run must have been read with
// details; shape and arguments need one that was read with arguments.
struct OpsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_shape = false;      // the shapes of its arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_thread = false;
  bool by_rank = false;
};

// The rows are sorted by device_self_ns, without devices by host_self_ns.
//
// Columns of properties that do not separate rows are left out. Launchers are operators that gave
// work to a device themselves; device_mean_ns and so on are statistics of that work. device_share
// and host_share refer to the own times of all operators. An operator inside one with its own name,
// which contains no other operator, is the same operator once more.
Report ops_report(const Run& run, const OpsOptions& options);

// `trace-stats steps`: splits each step's time into roles.

struct StepsOptions {
  bool raw = false;  // add columns of roles by themselves, which overlap
  // Only so many steps have a row, the longest.
  std::size_t most_rows = ~std::size_t{0};
};

// The table "summary" has statistics over all steps of a rank, "shares" and "mean" those of the
// mean step of a rank, and of all ranks together (mean_basis()).
//
// "counted" is false for the tail (run/steps.h). For an inference engine all rows have a "kind",
// prefill or decode, and the means are "mean_prefill" and "mean_decode".
Report steps_report(const Run& run, const StepsOptions& options);

// Shows each role in a mean step, and its share of all time of the steps.
Table roles_table(const StepSum& steps);

// Notes what is missing from the steps of a run, for any report about them.
void note_missing(const Run& run, Report& report);

// `trace-stats stragglers`: shows the rank for which the others wait, how often, how much, and why.

Report stragglers_report(const Run& run);

// `trace-stats tree`: shows where in the code the time is spent, by thread.

enum class TreeMetric : std::uint8_t { host, device };

struct TreeReportOptions {
  TreeOptions tree = {};
  TreeMetric metric = TreeMetric::host;  // the metric sorts siblings and folds stacks
  // Least share of a shown node in all host, or in all device time. Frames of Python with less own
  // time and only one child are skipped.
  double min_share = 0.01;
  // Depth of the shown nodes, with roots at 1; 0: all. A row sums what is deeper in a node.
  std::size_t depth = 0;
};

// A parent stands before its children, which are sorted by the total of the metric. The hidden
// nodes in "totals" are those that the limits leave out.
Report tree_report(const Run& run, const TreeReportOptions& options);
// `tree` has been made with the options.
Report tree_report(const Run& run, const CallTree& tree, const TreeReportOptions& options);

// Writes a line for each stack with time of its own, "rank 0, thread 7;a;b 1200", in nanoseconds,
// ascending. A ';' in a name becomes ':', a control character a space. The limits do not hold for
// it, so the numbers add up to all time; what is deeper than 512 frames belongs to the last of
// them.
std::string folded_stacks(const Run& run, const TreeReportOptions& options);

}  // namespace traceloom
