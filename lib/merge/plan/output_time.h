// output_time(): when an event happens in the output.
//
//   const std::optional<OutputTime> time = output_time(timing, plan.files[file].times);
#pragma once

#include "base/saturating.h"
#include "clock/time_map.h"
#include "event/event_timing.h"

#include <cstdint>
#include <optional>

namespace traceloom {

struct OutputTime {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // for an X: as in the file, or mapped where the clock drifts
  std::int64_t end_ns = 0;       // cut to the largest time if it does not fit
  SliceEnd slice_end = SliceEnd::known;

  // True for an X whose length is known only at the end of its file. Until then it has no duration.
  bool is_endless() const { return slice_end != SliceEnd::known; }
};

// Returns nullopt if the time does not fit.
inline std::optional<OutputTime> output_time(const EventTiming& timing, const TimeMap& times) {
  OutputTime time{0, timing.duration_ns, 0, timing.slice_end};
  if (!times.map(timing.start_ns, time.start_ns)) return std::nullopt;
  std::int64_t end_ns = 0;
  if (times.has_drift() && timing.duration_ns != 0 &&
      times.map_end(timing.start_ns, saturating_add(timing.start_ns, timing.duration_ns), end_ns))
    time.duration_ns = end_ns - time.start_ns;
  time.end_ns = saturating_add(time.start_ns, time.duration_ns);
  return time;
}

}  // namespace traceloom
