#include "analysis/devices/device_work.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

std::int64_t launched_at(const WorkPiece& piece) {
  return piece.call == nullptr ? std::numeric_limits<std::int64_t>::max() : piece.call->start_ns;
}

bool is_before(const WorkPiece& a, const WorkPiece& b) {
  if (a.span.start_ns != b.span.start_ns) return a.span.start_ns < b.span.start_ns;
  if (launched_at(a) != launched_at(b)) return launched_at(a) < launched_at(b);
  return a.span.end_ns < b.span.end_ns;
}

// Sorts indices and not the pieces, which are large.
void sort_by_time(WorkList& work) {
  if (std::is_sorted(work.begin(), work.end(), is_before)) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> places;
  places.reserve(work.size());
  for (const WorkPiece& piece : work)
    places.emplace_back(piece.span.start_ns, static_cast<std::uint32_t>(places.size()));
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (is_before(work[a.second], work[b.second])) return true;
    return !is_before(work[b.second], work[a.second]) && a.second < b.second;
  });
  WorkList sorted;
  sorted.reserve(work.size());
  for (const auto& [start_ns, place] : places) sorted.push_back(work[place]);
  work = std::move(sorted);
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

WorkList all_work(const RankEvents& rank) {
  WorkList work;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) work.push_back({span, launches.find(part, span)});
  sort_by_time(work);
  return work;
}

DeviceWork find_device_work(const RankEvents& rank) {
  DeviceWork found;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
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
