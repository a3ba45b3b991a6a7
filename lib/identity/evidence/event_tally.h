// The tally of all events of a file: a fingerprint, and when they begin and end.
#pragma once

#include "clock/time_map.h"
#include "event/event_timing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace traceloom {

// EventTally: a fingerprint of the events of a file, gathered event by event. It distinguishes the
// file from others and recognises a copy.
//
//   EventTally tally;
//   tally.add(event, time_event(event, problems));  // any event that begins: no metadata, no E
//   tally.append(tally_of_the_next_chunk);
//   if (tally == other_tally) ...           // a copy, whatever its compression and layout

// All times are the file's own, unchanged. It costs a few nanoseconds an event.
struct EventTally {
  std::uint64_t events = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  std::uint64_t sum_ns = 0;       // sum of all starts modulo 2^64, which is the same in any order
  std::uint64_t lengths_ns = 0;   // sum of all durations, likewise: starts alone may be whole
                                  // milliseconds
  std::uint64_t first_event = 0;  // hash of name and thread of the first event

  void add(const Event& event, const EventTiming& timing) {
    if (events++ == 0) first_event = hash_of(event);
    first_ns = std::min(first_ns, timing.start_ns);
    last_ns = std::max(last_ns, timing.start_ns);
    sum_ns += static_cast<std::uint64_t>(timing.start_ns);
    lengths_ns += static_cast<std::uint64_t>(timing.duration_ns);
  }
  // Appends the tally of a later part of the same file.
  void append(const EventTally& later) {
    if (events == 0) first_event = later.first_event;
    events += later.events;
    first_ns = std::min(first_ns, later.first_ns);
    last_ns = std::max(last_ns, later.last_ns);
    sum_ns += later.sum_ns;
    lengths_ns += later.lengths_ns;
  }
  bool empty() const { return events == 0; }
  // True if `earlier` may belong to the same file at a time when it was incomplete.
  bool continues(const EventTally& earlier) const {
    return events > earlier.events && first_ns == earlier.first_ns &&
           first_event == earlier.first_event;
  }
  bool operator==(const EventTally&) const = default;

 private:
  // FNV-1a: an output stores the hash, so it must be the same on every machine.
  static std::uint64_t hash_of(const Event& event) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const Key key : {Key::name, Key::pid, Key::tid}) {
      for (const char c : canonical_id(event.text(key)) + '\n') {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
      }
    }
    return hash;
  }
};

// StartTimes: the begins (and ends) of a file's events in the file's own time, gathered event by
// event.
//
//   StartTimes starts;
//   starts.add(timing.start_ns, event.offset);          // any event but an E
//   if (starts.is_mixed()) ...
//
// Times further apart than int64 nanoseconds reach (292 years) cannot be on one time line. If a
// file has such times, the time line with most of its events is used. The other events are
// outliers, which only outliers() and fits() consider.

// The length of a time line: as far as int64 reaches if the first time is floored to a whole
// microsecond.
inline constexpr std::int64_t kTimeLineNs = std::numeric_limits<std::int64_t>::max() - 1000;

class StartTimes {
 public:
  void add(std::int64_t ns, std::uint64_t offset_bytes = 0) {
    Zone& zone = zones_[zone_of(ns)];
    if (zone.events++ == 0) zone.first_offset = offset_bytes;
    zone.first = std::min(zone.first, ns);
    zone.last = std::max(zone.last, ns);
  }
  // Adds an end event: it may be the last time, but nothing begins with it.
  void add_end(std::int64_t ns) {
    Zone& zone = zones_[zone_of(ns)];
    zone.last = std::max(zone.last, ns);
  }
  void add(const StartTimes& later) {
    for (std::size_t i = 0; i < kZones; ++i) zones_[i].add(later.zones_[i]);
  }

  struct Range {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  // also counts an E
    std::uint64_t events = 0;                                      // number of events that begin

    bool empty() const { return first == std::numeric_limits<std::int64_t>::max(); }
  };
  // Times that are too small for Unix times (TimeMap), and Unix times.
  Range relative() const { return range_of(0, kFirstUnixZone); }
  Range unix_time() const { return range_of(kFirstUnixZone, kZones); }
  bool is_mixed() const { return !relative().empty() && !unix_time().empty(); }
  bool empty() const { return relative().empty() && unix_time().empty(); }
  // Returns the earliest time.
  std::optional<std::int64_t> first_ns() const {
    if (empty()) return std::nullopt;
    return std::min(relative().first, unix_time().first);
  }

  // Returns the latest time.
  std::optional<std::int64_t> last_ns() const {
    if (empty()) return std::nullopt;
    return std::max(relative().last, unix_time().last);
  }
  struct Outliers {
    std::uint64_t events = 0;
    std::uint64_t first_offset = 0;
  };
  Outliers outliers() const;
  // False for an outlier. All times of a zone share the answer.
  bool fits(std::int64_t ns) const { return is_kept(zone_of(ns)); }
  // True if times within 146 years of time 0 fit; nearly all times of all files do.
  bool fit_near() const {
    const bool has_none = zones_[1].empty() && zones_[2].empty();
    return has_none || (!zones_[1].empty() && is_kept(1)) || (!zones_[2].empty() && is_kept(2));
  }
  static bool is_near(std::int64_t ns) { return zone_of(ns) == 1 || zone_of(ns) == 2; }
  // The range contains all times that fit, and no outlier.
  Range limits() const;

 private:
  static constexpr std::size_t kZones = 4;
  static constexpr std::size_t kFirstUnixZone = 2;
  static constexpr std::int64_t kFarNs = std::int64_t{1} << 62;  // 146 years
  // The first time of each zone. No zone is longer than a time line.
  static constexpr std::array<std::int64_t, kZones> kZoneBegins{
      std::numeric_limits<std::int64_t>::min(), -kFarNs, kFirstUnixNs, kFarNs};

  struct Zone : Range {
    std::uint64_t first_offset = 0;

    void add(const Zone& later) {
      if (events == 0) first_offset = later.first_offset;
      events += later.events;
      first = std::min(first, later.first);
      last = std::max(last, later.last);
    }
  };
  struct Kept {  // [begin, end) of the zones
    std::size_t begin = 0;
    std::size_t end = kZones;
  };

  static std::size_t zone_of(std::int64_t ns) {
    if (ns >= kFirstUnixNs) return ns < kFarNs ? 2 : 3;
    return ns >= -kFarNs ? 1 : 0;
  }
  // Nearly all files have only near times.
  Kept kept() const { return zones_[0].empty() && zones_[3].empty() ? Kept{} : most(); }
  Kept most() const;
  bool is_kept(std::size_t zone) const {
    const Kept zones = kept();
    return zone >= zones.begin && zone < zones.end;
  }
  Range range_of(std::size_t begin, std::size_t end) const {
    const Kept zones = kept();
    Zone range;
    for (std::size_t i = std::max(begin, zones.begin); i < std::min(end, zones.end); ++i)
      range.add(zones_[i]);
    return range;
  }

  std::array<Zone, kZones> zones_;
};

// The range of a file's events on the common clock.
struct CommonTimes {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  void add(std::int64_t ns) { add({ns, ns}); }
  void add(const CommonTimes& other) {
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
  }
  bool operator==(const CommonTimes&) const = default;
};

// A time that does not fit has no place in the output either, and is used unchanged.
inline CommonTimes common_times(const StartTimes& starts, const TimeMap& times) {
  CommonTimes common;
  for (const StartTimes::Range& range : {starts.relative(), starts.unix_time()}) {
    if (range.empty()) continue;
    times.for_each_bound(range.first, range.last,
                         [&](std::int64_t ns) { common.add(times.mapped_or_same(ns)); });
  }
  return common;
}

}  // namespace traceloom
