#include "analysis/devices/stream_launches.h"

#include "base/saturating.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace traceloom {

std::vector<Launch> find_launches(const WorkList& work) {
  std::vector<Launch> launches;
  std::unordered_map<const CallSpan*, std::size_t> known;
  launches.reserve(work.size());
  known.reserve(work.size());
  for (const WorkPiece& piece : work) {
    if (piece.call == nullptr) continue;
    const auto [entry, is_new] = known.emplace(piece.call, launches.size());
    if (is_new) launches.push_back({piece.call, piece.span.start_ns});
    Launch& launch = launches[entry->second];
    add_to(launch.device_ns, piece.span.end_ns - piece.span.start_ns);
    ++launch.pieces;
  }
  return launches;
}

std::vector<QueueChange> find_queue(const std::vector<Launch>& launches) {
  std::vector<QueueChange> changes;
  changes.reserve(2 * launches.size());
  for (const Launch& launch : launches) {
    changes.push_back({std::min(launch.call->start_ns, launch.start_ns), 1});
    changes.push_back({launch.start_ns, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const QueueChange& a, const QueueChange& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.length > b.length;
  });
  std::int64_t length = 0;
  for (QueueChange& change : changes) {
    length += change.length;
    change.length = length;
  }
  return changes;
}

}  // namespace traceloom
