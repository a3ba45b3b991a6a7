#include "analysis/device_work.h"

#include <algorithm>
#include <limits>

namespace traceloom {
namespace {

std::int64_t launched_at(const WorkPiece& piece) {
  return piece.call == nullptr ? std::numeric_limits<std::int64_t>::max() : piece.call->start_ns;
}

void sort_by_time(WorkList& work) {
  std::stable_sort(work.begin(), work.end(), [](const WorkPiece& a, const WorkPiece& b) {
    if (a.span.start_ns != b.span.start_ns) return a.span.start_ns < b.span.start_ns;
    if (launched_at(a) != launched_at(b)) return launched_at(a) < launched_at(b);
    return a.span.end_ns < b.span.end_ns;
  });
}

}  // namespace

std::map<std::int32_t, WorkList> DeviceWork::devices() const {
  std::map<std::int32_t, WorkList> all;
  for (const auto& [stream, work] : streams) {
    WorkList& of_device = all[stream.device];
    of_device.insert(of_device.end(), work.begin(), work.end());
  }
  for (auto& [device, work] : all) sort_by_time(work);
  return all;
}

DeviceWork find_device_work(const RankEvents& rank) {
  DeviceWork found;
  const Launches launches(rank.parts);
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices) {
      const CallSpan* const call = launches.find(part, span);
      found.streams[{span.device, span.stream}].push_back({span, call});
      ++found.pieces;
      if (call == nullptr) ++found.unlinked;
    }
  for (auto& [stream, work] : found.streams) sort_by_time(work);
  return found;
}

}  // namespace traceloom
