#include "identity/evidence/event_tally.h"

#include "base/arithmetic.h"

namespace traceloom {

// The time line begins with a zone and extends as far as it can. Of two with equally many events,
// the one with near times is used.
StartTimes::Kept StartTimes::most() const {
  Kept best{0, 0};
  std::uint64_t most_events = 0;
  for (std::size_t begin = 0; begin < kZones; ++begin) {
    if (zones_[begin].empty()) continue;
    const std::int64_t end_ns = saturating_add(zones_[begin].first, kTimeLineNs);
    std::size_t end = begin;
    std::uint64_t events = 0;
    while (end < kZones && (zones_[end].empty() || zones_[end].last <= end_ns))
      events += zones_[end++].events;
    if (events < most_events || (events == most_events && begin > kFirstUnixZone)) continue;
    best = {begin, end};
    most_events = events;
  }
  // Empty zones before them belong to them, too.
  while (best.begin > 0 && zones_[best.begin - 1].empty()) --best.begin;
  return best;
}

StartTimes::Outliers StartTimes::outliers() const {
  Outliers outliers;
  for (std::size_t i = 0; i < kZones; ++i) {
    if (is_kept(i) || zones_[i].events == 0) continue;
    const std::uint64_t offset = zones_[i].first_offset;
    outliers.first_offset = outliers.events == 0 ? offset : std::min(outliers.first_offset, offset);
    outliers.events += zones_[i].events;
  }
  return outliers;
}

StartTimes::Range StartTimes::limits() const {
  const Kept zones = kept();
  return {
      kZoneBegins[zones.begin],
      zones.end == kZones ? std::numeric_limits<std::int64_t>::max() : kZoneBegins[zones.end] - 1,
      0};
}

}  // namespace traceloom
