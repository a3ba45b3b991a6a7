// Run: the events of all ranks as columns, on one clock. What every analysis but summarize begins
// with.
//
//   Run run = read_run({.inputs = expand_inputs({"traces/"})});
//   for (const RankEvents& rank : run.ranks)
//     rank.for_each_device([&](const DeviceSpan& span) { use(run.labels.name(span.label)); });
//
// Ranks and clocks are found as in a merge (identity/), so that the numbers of a merged file are
// those of its inputs. Reads the files once, in parallel. Memory: 4 to 48 bytes an event (spans of
// the host are packed, run/packed_rows.h), the different names, and the chunks being read; never
// the text.
#pragma once

#include "base/file_facts.h"
#include "clock/alignment.h"
#include "input/input_list.h"
#include "run/event_columns.h"
#include "run/steps.h"
#include "select/number_range.h"
#include "select/step_selection.h"
#include "select/time_selection.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct RunRequest {
  std::vector<Input> inputs = {};
  std::vector<NumberRange> ranks = {};      // empty: all
  std::optional<TimeSelection> time = {};   // events that start in it
  std::optional<StepSelection> steps = {};  // these steps, and events that start in them
  bool details = false;     // also what all device work, not that of collectives alone, says of
                            // itself (run/details.h), and operators by themselves
  bool arguments = false;   // with details: also what operators were called with
  bool frames = false;      // also what is around other spans: see EventColumns::frames
  bool python = false;      // of these Python's functions alone, from 20 us on: Role::host_code
  bool samples = false;     // also counters and "[memory]" instants (run/samples.h)
  bool keep_going = false;  // an input that is no trace is left out, instead of throwing its Error
  unsigned threads = 0;     // 0: as many as there are cores
  std::function<void(std::uint64_t)> progress = {};  // as in ScanOptions
};

inline constexpr std::string_view kTorchProducer = "torch.profiler";  // RunFile::producer

struct RunFile : FileFacts {
  ClockMethod clock = ClockMethod::none;
  std::int64_t offset_ns = 0;                          // from its clock to the common one
  std::optional<CollectiveEstimate> collectives = {};  // as in FileClock
  std::string producer = {};                           // who wrote it, as far as it tells
  std::string rank_source = {};                        // what the rank is known from
  PhaseCounts phases = {};                             // events by the letter of their phase
  std::int64_t span_ns = 0;                            // from its first to its last event begins
  std::int64_t world_size = 0;        // ranks of the job, as far as the file tells; else 0
  ProblemCounts clock_problems = {};  // what is odd about its clock beside those of the others
};

// Of one rank. Times are ns since the first event of all files.
struct RankEvents {
  std::int64_t rank = 0;
  std::vector<EventColumns> parts;
  StepList steps;
  Intervals unrecorded = {};  // between recordings: run/recorded_times.h

  template <typename Use>
  void for_each_host(Use use) const {
    for (const EventColumns& part : parts)
      for (const HostSpan& span : part.hosts) use(span);
    for_each_operator(use);
  }
  template <typename Use>
  void for_each_operator(Use use) const {
    for (const EventColumns& part : parts)
      for (const OperatorSpan& span : part.operators) use(span);
  }
  template <typename Use>
  void for_each_frame(Use use) const {
    for (const EventColumns& part : parts)
      for (const HostSpan& span : part.frames) use(span);
  }
  template <typename Use>
  void for_each_call(Use use) const {
    for (const EventColumns& part : parts)
      for (const CallSpan& span : part.calls) use(span);
  }
  template <typename Use>
  void for_each_device(Use use) const {
    for (const EventColumns& part : parts)
      for (const DeviceSpan& span : part.devices) use(span);
  }
  template <typename Use>
  void for_each_mark(Use use) const {
    for (const EventColumns& part : parts)
      for (const MarkedSpan& span : part.marks) use(span);
  }
  template <typename Use>
  void for_each_memory(Use use) const {
    for (const EventColumns& part : parts)
      for (const MemorySample& sample : part.memory) use(sample);
  }
  template <typename Use>
  void for_each_counter(Use use) const {
    for (const EventColumns& part : parts)
      for (const CounterSample& sample : part.counters) use(sample);
  }
  template <typename Use>
  void for_each_unknown(Use use) const {
    for (const EventColumns& part : parts)
      for (const UnknownSpans& spans : part.unknown) use(spans);
  }
  bool has_devices() const;
  bool has_frames() const;
};

struct Run {
  std::vector<RunFile> files;     // is_told_before(), in whatever order the inputs were given
  std::vector<RankEvents> ranks;  // ascending; those that were asked for
  Labels labels;
  Tracks tracks;
  StringTable details;  // texts for find_detail(); keys of counters
  // Whether times of different ranks can be compared: all files of all ranks have a common clock.
  bool common_clock = true;
  // Whether that was made of collectives, by this reading or a merge: who waited for whom in these
  // cannot be told by it.
  bool clock_of_collectives = false;
  unsigned threads = 0;  // as asked for
};

// Throws Error for an input that is no trace (see keep_going), and a negative rank.
Run read_run(const RunRequest& request);

// Calls use(index) for 0 .. count - 1 from up to `threads` threads (0: as many as there are cores).
// For work on ranks, which do not know each other.
void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& use);

}  // namespace traceloom
