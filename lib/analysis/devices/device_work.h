// DeviceWork: the work of each stream of a rank's devices in time order, each piece with the call
// of the host that launched it.
//
//   for (const auto& [stream, work] : find_device_work(rank).streams) use(stream.device, work);
//
// A call is found by the correlation, even if --time or --steps did not select it. Work that names
// no stream is in one stream of its device, number -1.
#pragma once

#include "run/launches.h"
#include "run/run.h"

#include <cstdint>
#include <map>
#include <vector>

namespace traceloom {

struct WorkPiece {
  DeviceSpan span;
  const CallSpan* call;  // nullptr if no call with its correlation was recorded
};

// Ascending by start; of pieces that start together, the one launched first comes first.
using WorkList = std::vector<WorkPiece>;

struct StreamKey {
  std::int32_t device = 0;
  std::int32_t stream = -1;

  friend bool operator<(const StreamKey& a, const StreamKey& b) {
    return a.device != b.device ? a.device < b.device : a.stream < b.stream;
  }
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

}  // namespace traceloom
