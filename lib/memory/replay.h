// replay: what a snapshot says about one device: its peak, who held it, what is left at the end.
//
//   const MemoryAnswer answer = replay(snapshot, snapshot.devices[0]);
//   for (const PlaceMemory& place : answer.places) use(place.place, place.at_peak);
//
// A history has the end of a run, and the blocks say what is there at its end. So entries are
// undone, the last one first: an alloc takes its block away, a completed free brings one back. What
// is left before the first entry was allocated before the history.
//
// Requested bytes are exact over the whole history. The true size of a block that was freed is
// lost: its request is rounded up to 512, so active, allocated and free bytes in the past are
// lower bounds (of free ones: upper bounds). At the end all of them are exact.
#pragma once

#include "memory/snapshot.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

inline constexpr std::string_view kBeforePlace = "(before the history)";
inline constexpr std::string_view kNotRecordedPlace = "(not recorded)";  // there is no history

struct MemoryState {
  std::int64_t requested = 0;  // active, without rounding
  std::int64_t active = 0;     // allocated, and what waits for another stream
  std::int64_t allocated = 0;  // not asked to be freed
  std::int64_t reserved = 0;   // segments
};

struct PlaceMemory {
  std::string place;
  MemoryCategory category = MemoryCategory::other;
  std::int64_t at_peak = 0;  // requested bytes
  std::int64_t at_peak_count = 0;
  std::int64_t at_end = 0;
  std::int64_t at_end_count = 0;
};

// A place with memory of at least kLeakSteps steps that is still there at the end.
struct MemoryLeak {
  std::string place;
  std::int64_t bytes_per_step = 0;  // mean over these steps, rounded down
  std::int64_t steps = 0;
};
inline constexpr std::int64_t kLeakSteps = 3;

struct OutOfMemory {
  std::int64_t requested = 0;
  std::int64_t device_free = 0;
  std::int64_t reserved = 0;
  std::int64_t inactive = 0;      // free bytes in segments, outside of private pools
  std::int64_t largest_free = 0;  // the largest piece of the pool that the request needs
  bool is_fragmented = false;     // that pool has enough free bytes, in pieces that are too small
  std::int64_t at_ns = kNoTime;
  std::string place;
};
inline constexpr std::size_t kMostOutOfMemory = 16;  // of a device, the last ones

// Of each part of the time, the first moment with the highest values of the part, and the last
// moment.
struct HistoryPoint {
  std::int64_t at_ns = 0;
  std::int64_t requested = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;

  friend bool operator==(const HistoryPoint&, const HistoryPoint&) = default;
};
inline constexpr std::size_t kMostPoints = 1024;

struct MemoryAnswer {
  std::int64_t device = 0;
  std::size_t entries = 0;
  // The history holds all that is there: nothing was allocated before it.
  bool is_complete = false;
  std::int64_t from_ns = kNoTime;          // the first entry with a time
  MemoryState peak;                        // each value has its own moment
  std::optional<std::int64_t> peak_at_ns;  // of `requested`; absent before the first entry
  std::optional<std::int64_t> peak_step;   // see replay()
  std::string peak_in;                     // the innermost annotation that is open then
  MemoryState end;
  std::int64_t inactive = 0;
  std::int64_t largest_free = 0;
  std::int64_t rounding = 0;     // bytes of live blocks beyond their requests
  std::int64_t reclaimable = 0;  // segments that an emptied cache gives back
  std::int64_t private_pools = 0;
  std::uint64_t frees_without_alloc = 0;
  std::uint64_t contradictions = 0;  // entries that do not fit to the blocks or to each other
  std::uint64_t unknown_actions = 0;
  std::uint64_t checks = 0;  // entries that say how much was active, and how many of them fit
  std::uint64_t checks_that_fit = 0;
  std::uint64_t ooms = 0;
  std::vector<HistoryPoint> curve;         // by time, of entries with a time; at most kMostPoints
  std::vector<PlaceMemory> places;         // the largest at the peak first, then at the end
  std::vector<MemoryLeak> leaks;           // the largest first
  std::vector<OutOfMemory> out_of_memory;  // the last kMostOutOfMemory, oldest first
};

// A step of the trace of the same rank. Numbers may repeat; `begin_ns` may not.
struct TraceStep {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
};
// Returns the step that has a Unix time; none outside of steps.
using StepAt = std::function<std::optional<TraceStep>(std::int64_t at_ns)>;

// Steps are those that torch.profiler marked in the snapshot, those of the trace, or begin at the
// moments of earlier dumps, which have no numbers: the first of these that has a step at the peak,
// and for leaks the first with kLeakSteps steps in which memory was allocated.
MemoryAnswer replay(const Snapshot& snapshot, const DeviceSnapshot& device,
                    const StepAt& step_at = {});

}  // namespace traceloom
