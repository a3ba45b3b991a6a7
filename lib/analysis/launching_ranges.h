// LaunchingRanges: which collective of the host launched a piece of communication of a device.
//
//   LaunchingRanges ranges(run, rank);
//   if (const LaunchingRange* range = ranges.find(part, span))
//     use(run.labels.name(range->span.label));
//
// torch puts a range with the name and the tensors of the collective ("nccl:all_reduce") around the
// calls that launch its kernels. It is found by the call that launched the kernel; where that was
// not recorded, by the External id.
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
  std::size_t pieces = 0;          // of communication that it launched
  std::int64_t latest_end_ns = 0;  // of it and those before it on its row
};

// Of one rank, which must outlive it.
class LaunchingRanges {
 public:
  LaunchingRanges(const Run& run, const RankEvents& rank);

  // Of a piece in `part`; nullptr when none is known.
  const LaunchingRange* find(const EventColumns& part, const DeviceSpan& piece) const;

 private:
  std::size_t index_of(const EventColumns& part, const DeviceSpan& piece) const;
  std::size_t around(const CallSpan& call) const;

  Launches launches_;
  std::vector<LaunchingRange> ranges_;  // by row and start
  IdIndex<std::size_t> externals_;
};

}  // namespace traceloom
