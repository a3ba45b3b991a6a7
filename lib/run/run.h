// Run: the events of all ranks as columns on one clock. Every analysis except summarize starts with
// it.
//
//   Run run = read_run({.inputs = expand_inputs({"traces/"})});
//   for (const RankEvents& rank : run.ranks)
//     rank.for_each_device([&](const DeviceSpan& span) { use(run.labels.name(span.label)); });
//
// Ranks and clocks are found as in a merge (identity/), so that the numbers of a merged file are
// those of its inputs. Reads the files once, in parallel. Memory: 4 to 48 bytes an event (spans of
// the host are packed, base/packed_rows.h), the different names, and the chunks being read; never
// the text.
#pragma once

#include "base/problems.h"
#include "clock/alignment.h"
#include "identity/evidence/noted_group.h"
#include "input/input_list.h"
#include "run/event_columns.h"
#include "run/mesh_sizes.h"
#include "run/steps.h"
#include "select/selection.h"
#include "team/team.h"

#include <any>
#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

namespace traceloom {

struct RunRequest {
  std::vector<Input> inputs = {};
  std::vector<NumberRange> ranks = {};      // ranks to include; empty: all
  std::optional<TimeSelection> time = {};   // only events that start in it
  std::optional<StepSelection> steps = {};  // only these steps, and events that start in them
  bool details = false;    // also gather the details of all device work, not only of collectives
                           // (run/event_columns.h), and operators in a column of their own
  bool arguments = false;  // with details: also gather the arguments of operators
  bool shapes = false;     // operators in a column of their own, with the shapes of their arguments
                           // alone
  bool frames = false;     // also gather spans around other spans: see EventColumns::frames
  bool python = false;     // of the frames, only Python's functions of at least 20 us:
                           // Role::host_code; and all calls of torch modules (SpanMark::module).
                           // With frames: all are there, too, as EventColumns::all_frames
  bool samples = false;    // also gather counters and "[memory]" instants (run/event_columns.h)
  bool spread = false;     // in a team, leave the events of each rank where they were read: see
                           // RankEvents::is_here
  // Gather all spans that it accepts, as for_each_span() gives them, and no other events.
  std::optional<LabelFilter> spans = {};
  // Called with the number of different names and categories that were read so far; it may throw.
  std::function<void(std::size_t)> check_names = {};
  bool arrows = false;  // also count arrows that lack an end, or end before they start, as
                        // problems of their file (flows/flow_arrows.h)
  // Of the devices, streams and counters of each rank, the largest so many are kept: all other
  // devices are one, kOtherDevices, other streams are kNoId, and other counters are left out. Names
  // after the first so many are one (Labels::limit). 0: no limit.
  std::size_t most_kinds = 0;
  bool lists_clashes = false;  // count files that cannot be of one rank instead of throwing
                               // (SettleOptions)
  bool keep_going = false;     // leave out an input that is no trace, instead of throwing its Error
  MeshSizes mesh_sizes = {};   // how the job is split, if its traces are not to say it
  unsigned threads = 0;        // 0: one a core
  std::function<void(std::uint64_t)> progress = {};  // called as in ScanOptions
  Team* team = nullptr;  // the processes that read the files; nullptr: this one alone

  bool has_operators() const { return details || shapes; }
};

// RunFile::producer
inline constexpr std::string_view kTorchProducer = "torch.profiler";
inline constexpr std::string_view kRecorderProducer = "traceloom recorder";

struct RunFile : FileFacts {
  ClockMethod clock = ClockMethod::none;
  std::int64_t offset_ns = 0;                          // from its clock to the common one
  TimeMap times{0};                                    // from its times to those of the run
  std::int64_t base_ns = 0;                            // Unix time of its time 0
  std::optional<CollectiveEstimate> collectives = {};  // estimate by collectives, as in FileClock
  std::string producer = {};                           // the program that wrote it, if named
  std::string rank_source = {};                        // the evidence for the rank
  PhaseCounts phases = {};                             // number of events by phase
  std::int64_t first_ns = 0;         // the first begin of an event, as Run::origin_ns
  std::int64_t span_ns = 0;          // from there to the last begin or E
  std::int64_t world_size = 0;       // number of ranks of the job if the file names it, else 0
  std::set<NotedGroup> groups = {};  // process groups, as far as the file's header has them
  std::map<std::int64_t, std::string> hosts = {};  // by rank: the machine, if the file names it
  std::set<std::string> devices = {};  // names of the devices, if the file has their properties
  ProblemCounts clock_problems = {};   // problems of its clock compared with the other clocks
};

// The kinds of events that a rank has.
struct EventKinds {
  bool any = false;
  bool devices = false;
  bool frames = false;
  std::size_t waits = 0;  // for data, SpanMark::loader

  friend bool operator==(const EventKinds&, const EventKinds&) = default;
};

inline constexpr std::int32_t kOtherDevices = -1;

// How many of a rank RunRequest::most_kinds has put together, or left out.
struct OtherKinds {
  std::size_t devices = 0;
  std::size_t streams = 0;
  std::size_t counters = 0;
};

// What is known of a rank besides its events, in a team on all processes.
struct RankFacts {
  StepList steps = {};
  Intervals unrecorded = {};  // times between recordings: run/steps.h
  EventKinds kinds = {};
  std::int64_t stage = -1;  // of a coarse time line, as the names of the rank's rows say
  // Number of launches whose device work was lost, by file: impossible_work.h.
  std::map<std::size_t, std::uint64_t> lost_work = {};

  auto wired() { return std::tie(steps, unrecorded, kinds, stage, lost_work); }
};

// The events of one rank. Times are ns since the first event of all files.
struct RankEvents : RankFacts {
  std::int64_t rank = 0;
  std::vector<EventColumns> parts = {};
  OtherKinds others = {};
  // False if another process of the team has the events, which happens only if the request says
  // `spread`. Then `parts` are empty here; all RankFacts are known. See per_rank/per_rank.h.
  bool is_here = true;

  // The parts; only the process that has the events may ask for them.
  const std::vector<EventColumns>& own_parts() const {
    assert(is_here);
    return parts;
  }
  // Calls use(row) for each row of a column.
  template <typename Rows, typename Use>
  void for_each(Rows EventColumns::*column, Use use) const {
    for (const EventColumns& part : own_parts())
      for (const auto& row : part.*column) use(row);
  }
  // All X events and pairs of B and E, of host and devices alike, if RunRequest::spans asks for
  // them.
  void for_each_span(auto use) const { for_each(&EventColumns::spans, use); }
  void for_each_host(auto use) const {
    for_each(&EventColumns::hosts, use);
    for_each_operator(use);
  }
  void for_each_operator(auto use) const { for_each(&EventColumns::operators, use); }
  void for_each_frame(auto use) const { for_each(&EventColumns::frames, use); }
  void for_each_call(auto use) const { for_each(&EventColumns::calls, use); }
  void for_each_device(auto use) const { for_each(&EventColumns::devices, use); }
  void for_each_mark(auto use) const { for_each(&EventColumns::marks, use); }
  // The names that programs give to times; these are also frames if the run was read with frames.
  void for_each_annotation(auto use) const {
    for_each_mark([&](const MarkedSpan& span) {
      if (span.mark == SpanMark::annotation) use(span);
    });
  }
  void for_each_memory(auto use) const { for_each(&EventColumns::memory, use); }
  void for_each_counter(auto use) const { for_each(&EventColumns::counters, use); }
  void for_each_unknown(auto use) const { for_each(&EventColumns::unknown, use); }
  bool has_devices() const { return kinds.devices; }
  bool has_frames() const { return kinds.frames; }
};

// Returns the kinds of events in the parts of a rank.
EventKinds find_kinds(const std::vector<EventColumns>& parts);

// RunMemo: what several answers of a run need, found once.
//
//   return run.memo.get<MatchedCollectives>([&] { return match(run); });
//
// A copy of a run has none of it, because it may be changed. Not for several threads.
class RunMemo {
 public:
  RunMemo() = default;
  RunMemo(const RunMemo& /*other*/) {}
  RunMemo& operator=(const RunMemo& /*other*/) {
    found_.clear();
    return *this;
  }
  ~RunMemo() = default;

  template <typename Found, typename Find>
  const Found& get(Find find) const {
    std::any& found = found_[typeid(Found)];
    if (!found.has_value()) found = find();
    return *std::any_cast<Found>(&found);
  }

 private:
  mutable std::map<std::type_index, std::any> found_;
};

struct Run : RunTexts {
  std::vector<RunFile> files;  // sorted by is_reported_before(), whatever the order of the inputs
  std::vector<RankEvents> ranks;  // the requested ranks, ascending
  // True if times of different ranks can be compared: all files of all ranks have a common clock.
  bool common_clock = true;
  std::int64_t origin_ns = 0;  // time 0 on that clock
  // True if that clock was computed from collectives, by this reading or a merge. Then it cannot
  // show which rank waited for which in these collectives.
  bool clock_of_collectives = false;
  MeshSizes mesh_sizes = {};  // of the request
  unsigned threads = 0;       // number of threads in the request
  Team* team = nullptr;       // the processes that have the events; nullptr: all are here
  RunMemo memo = {};

  // Returns the ranks that the files name, ascending, whether the request has them or not.
  std::vector<std::int64_t> ranks_of_files() const;
  // True if it has ranks of a coarse time line (analysis/coarse).
  bool is_coarse() const;
  // Returns the first file whose clock was set, or contradicts itself, while it was recorded;
  // nullptr if there is none.
  const RunFile* file_with_set_clock() const;
};

// Throws Error for an input that is no trace (see keep_going), and a negative rank.
//
// In a team each process reads some of the files, and process 0 gets the whole run: the same as by
// one process. On the others the run is empty. With `spread` all processes get the same run, but
// each rank's events are on one of them only: the one that read the first file with any.
Run read_run(const RunRequest& request);

// Calls use(index) for 0 .. count - 1 from up to `threads` threads (0: one a core), for independent
// work on each rank.
void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& use);

}  // namespace traceloom
