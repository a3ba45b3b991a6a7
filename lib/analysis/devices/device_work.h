// DeviceWork: the work of each stream of a rank's devices in the order of time, each piece with the
// call of the host that launched it.
//
//   for (const auto& [stream, work] : find_device_work(rank).streams) use(stream.device, work);
//
// A call is found by the correlation, also where it is outside of what was selected by --time or
// --steps. Work that names no stream is in one stream of its device, number -1.
#pragma once

#include "run/launches.h"
#include "run/run.h"

#include <cstdint>
#include <map>
#include <vector>

namespace traceloom {

struct WorkPiece {
  DeviceSpan span;
  const CallSpan* call;  // nullptr when no call with its correlation was recorded
};

// Ascending by start; of those that start together the one that was launched first comes first.
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
  std::uint64_t unlinked = 0;  // without a call

  // All streams of each device together.
  std::map<std::int32_t, WorkList> devices() const;
};

// The calls are in `rank`, which must outlive it.
DeviceWork find_device_work(const RankEvents& rank);
// All streams of all devices of a rank together.
WorkList all_work(const RankEvents& rank);

}  // namespace traceloom
