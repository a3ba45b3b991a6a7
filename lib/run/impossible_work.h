// Device work that cannot be as it was recorded: work that ends too late, and launches without any.
#pragma once

#include "run/event_columns.h"
#include "run/steps.h"
#include "select/selection.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace traceloom {

// OverlongWork: ends work that cannot last so long (identity/evidence/event_marks.h, StreamOrder)
// where the next work of its stream begins.
//
//   OverlongWork overlong;
//   overlong.cut(part.devices, labels);     // of each part of a file, in its order

class OverlongWork {
 public:
  // `work` must stay where it is until the last part of its file has been cut: moving its columns
  // does not move it.
  void cut(std::vector<DeviceSpan>& work, const Labels& labels);
  // Begins another file.
  void clear() { open_.clear(); }

 private:
  std::map<std::uint32_t, DeviceSpan*> open_;  // by row: the last work that may be overlong
  std::vector<bool> is_on_stream_;             // by label
};

// KernelLaunches: the launches of kernels and graphs of a rank whose work the profiler has lost.
//
//   const KernelLaunches launches(rank.parts, run.labels);       // before rows are left out
//   rank.lost_work = launches.leave_out_lost(rank.steps, rank.unrecorded);
//
// The calls of one name count only if one of them has work: not all profilers show that of graphs.
// Launches into a graph that is being captured have none, and neither have those that lack it in
// the same place of most steps (one that always returns an error). Copies and fills do not count,
// because those of 0 bytes have none either: 578 fills in public traces. The end of a recording
// cuts off what was launched last, which is no loss.

// True for the name of a call that launches a kernel or a graph.
bool launches_kernels(std::string_view call);

class KernelLaunches {
 public:
  KernelLaunches(const std::vector<EventColumns>& parts, const Labels& labels);

  // Leaves out launches outside the window.
  void select(const TimeWindow& window);
  // Steps in which work was lost count no more. If none is marked, their one step counts unless a
  // twentieth of its launches lost their work. Returns the number of these launches by file.
  std::map<std::size_t, std::uint64_t> leave_out_lost(StepList& steps,
                                                      const Intervals& unrecorded) const;

 private:
  struct Launch {
    CallSpan call;
    std::size_t file = 0;
    bool has_work = false;
  };

  // Returns the launches that have no work by nature: over half of the steps with work, and at
  // least three, lack that of the launch with this call, thread and number in the step.
  std::set<const Launch*> without_work(const StepList& steps) const;

  std::vector<Launch> launches_;  // ascending by begin; empty if all have work
};

}  // namespace traceloom
