#include "analysis/collectives/comm_times.h"

#include <map>
#include <utility>

namespace traceloom {
namespace {

struct Pieces {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  Intervals whole;
  Intervals moving;
  bool moving_known = true;
};

void add(const Collective& what, const CollectivePart& part, Pieces& pieces) {
  ++pieces.count;
  pieces.bytes += what.bytes;
  pieces.moving_known = pieces.moving_known && !what.is_launch_only;
  pieces.whole.push_back({part.start_ns, part.end_ns});
  pieces.moving.push_back({part.end_ns - what.latency_ns(), part.end_ns});
}

}  // namespace

std::vector<CommTimes> find_comm_times(const std::vector<Collective>& collectives) {
  std::map<std::pair<std::size_t, std::string>, Pieces> found;
  for (const Collective& what : collectives)
    for (const CollectivePart& part : what.parts) {
      add(what, part, found[{part.rank, ""}]);
      add(what, part, found[{part.rank, what.name}]);
    }
  std::vector<CommTimes> times;
  times.reserve(found.size());
  for (auto& [key, pieces] : found)
    times.push_back({key.first, key.second, pieces.count, pieces.bytes,
                     total_ns(unite(std::move(pieces.whole))),
                     total_ns(unite(std::move(pieces.moving))), pieces.moving_known});
  return times;
}

}  // namespace traceloom
