// LaunchingRanges: finds the host's collective that launched a piece of a device's communication.
//
//   LaunchingRanges ranges(run, rank);
//   const LaunchedBy by = ranges.find(part, span);
//   if (by.range != nullptr) use(run.labels.name(by.range->span.label));
//
// torch puts a range with the name and the tensors of the collective ("nccl:all_reduce") around the
// calls that launch its kernels; around that is the operator ("c10d::allreduce_"). They are found
// by the call that launched the kernel, or by the External id if that call was not recorded.
#pragma once

#include "run/id_index.h"
#include "run/launches.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct LaunchingRange {
  MarkedSpan span;
  std::size_t pieces = 0;          // number of pieces of communication that it launched
  std::int64_t latest_end_ns = 0;  // latest end of it and of earlier ranges on its row
};

// The innermost ranges around a launch; nullptr if none is known.
struct LaunchedBy {
  const LaunchingRange* range = nullptr;  // SpanMark::collective
  const LaunchingRange* op = nullptr;     // SpanMark::collective_op
};

// Serves one rank, which must outlive it.
class LaunchingRanges {
 public:
  LaunchingRanges(const Run& run, const RankEvents& rank);

  // `piece` must belong to `part`.
  LaunchedBy find(const EventColumns& part, const DeviceSpan& piece) const;

 private:
  struct Found {
    std::size_t range;
    std::size_t op;
  };
  Found indices_of(const EventColumns& part, const DeviceSpan& piece) const;
  void add_around(const HostSpan& span, Found& found) const;

  Launches launches_;
  std::vector<LaunchingRange> ranges_;  // sorted by row and start
  IdIndex<std::size_t> externals_;
};

}  // namespace traceloom
