// EventTally: a fingerprint of the events of a file, gathered event by event. It distinguishes the
// file from others and recognises a copy.
//
//   EventTally tally;
//   tally.add(event, time_event(event, problems));  // any event that begins: no metadata, no E
//   tally.append(tally_of_the_next_chunk);
//   if (tally == other_tally) ...           // a copy, whatever its compression and layout
#pragma once

#include "event/event_timing.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace traceloom {

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

}  // namespace traceloom
