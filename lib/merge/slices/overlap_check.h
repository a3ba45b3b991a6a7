// OverlapCheck: finds slices of a track that overlap without one being inside the other.
//
//   OverlapCheck check;
//   if (check.overlaps(track, start_ns, duration_ns))
//     problems.add(Problem::partial_overlap, offset);
#pragma once

#include "base/saturating.h"

#include <cstdint>
#include <vector>

namespace traceloom {

// Viewers cannot nest such slices: Perfetto moves the later one to a lane of its own. The producer
// wrote them so (kernels that start before the one before them has ended), and they are left as
// they are. The check looks at slices in the order of a file, and only where their starts ascend,
// so that it never reports an overlap that is none. A slice costs a few nanoseconds. Not
// thread-safe.
class OverlapCheck {
 public:
  // Returns true if an earlier slice of the track ends within this one, after its start. If slices
  // start together, the shorter ones are inside the longest, in whichever order they come.
  bool overlaps(std::uint32_t track, std::int64_t start_ns, std::int64_t duration_ns) {
    if (track >= tracks_.size()) tracks_.resize(track + 1);
    Track& on = tracks_[track];
    if (on.round != round_ || start_ns < on.last_start_ns) on.open.clear();
    on.round = round_;
    on.last_start_ns = start_ns;
    while (!on.open.empty() && on.open.back().end_ns <= start_ns) on.open.pop_back();
    const std::int64_t end_ns = saturating_add(start_ns, duration_ns);
    auto place = on.open.end();
    while (place != on.open.begin() && place[-1].end_ns < end_ns && place[-1].start_ns == start_ns)
      --place;
    const bool overlaps = place != on.open.begin() && place[-1].end_ns < end_ns;
    if (!overlaps) on.open.insert(place, {start_ns, end_ns});
    return overlaps;
  }
  // Forgets all earlier slices.
  void forget() { ++round_; }

 private:
  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  struct Track {
    std::uint64_t round = 0;
    std::int64_t last_start_ns = 0;
    std::vector<Slice> open;  // not ended at the last start; the innermost is last
  };
  std::vector<Track> tracks_;
  std::uint64_t round_ = 1;
};

}  // namespace traceloom
