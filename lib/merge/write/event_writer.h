// EventWriter: copies the text of an event into the merged trace and replaces only what has to
// change: time, pid, tid, and the ids of flows and async events.
//
//   EventWriter writer(plan, file);
//   writer.write(event, time_event(event, state.problems), state);   // to state.block, or nothing
//                                                                     // for a dropped one
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/edits/event_edit.h"
#include "merge/order/event_block.h"
#include "merge/plan/plan.h"
#include "merge/rows/track_plan.h"
#include "merge/slices/slice_joiner.h"
#include "scan/event_scanner.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

class EventEdit;
struct EditedEvent;

// A slice of an async operation that nothing ends, in times of the output.
struct UnendedAsync {
  std::int64_t start_ns;
  std::uint64_t offset;
  std::int64_t rank;
  std::string name;  // JSON text
  AsyncHalves halves;
};

// Results of writing the events of a chunk. One thread at a time may use it; keep it from chunk
// to chunk.
struct WriteState {
  EventBlock block;
  ProblemCounts problems;
  std::uint64_t events = 0;  // written to the block, without metadata
  SliceHalves halves;        // B and E events
  std::vector<UnendedAsync> unended;
  LastEnds last_ends;
  // The offset of the first event that the plan did not expect: the plan lacks its track, or it
  // lies before the origin. Such events are not written.
  std::optional<std::uint64_t> unplanned;

  // Prepares the state for the next chunk. Its memory is kept, unless large events took it: there
  // are many states.
  void reset() {
    if (block.text.size() > kManyBytes && events < kFewEvents) block = {};
    block.clear();
    problems = {};
    events = 0;
    halves.clear();
    unended.clear();
    last_ends.clear();
    unplanned.reset();
    overlaps.forget();
    tracks.reset();
  }

  static constexpr std::size_t kManyBytes = std::size_t{2} << 20;
  static constexpr std::uint64_t kFewEvents = 64;
  OverlapCheck overlaps;
  std::string scratch;
  EventScanner scanner;  // reads repaired events again
  TrackCache tracks;
  FilterMemory filter_memory;
};

// Writes the events of one file. Thread-safe: it has no state of its own.
class EventWriter {
 public:
  EventWriter(const MergePlan& plan, std::size_t file)
      : plan_(plan), filter_(plan.filter ? &*plan.filter : nullptr), file_(file) {}

  // Writes `event`, as it was read, with its time_event(). It leaves out what time_event() refuses,
  // metadata, and what the plan's filter drops. B and E events go to state.halves.
  void write(const Event& event, const EventTiming& timing, WriteState& state) const;
  // Returns whether the plan leaves out the rank that the event belongs to.
  bool is_left_out(const Event& event, WriteState& state) const;
  // Writes a metadata event that the survey has kept; state.events does not count it.
  void write_metadata(const KeptMetadata& metadata, WriteState& state) const;

 private:
  bool is_left_out(const TrackTarget* target) const;
  // The place of an event in the output. A member is empty if the plan has no track for it, or its
  // time does not fit.
  struct Place {
    const TrackTarget* target = nullptr;
    std::optional<OutputTime> time = {};  // also empty for metadata
  };
  bool is_filtered_away(const Event& event, const Place& place, WriteState& state) const;
  void write_usable(const Event& event, const EventTiming& timing, const Place& place,
                    WriteState& state) const;
  void write_half(const Event& event, const Event& clean, std::int64_t start_ns,
                  const TrackTarget& target, EventEdit& edit, WriteState& state) const;
  SliceHalf begin_half(const Event& event, const Event& clean, EventEdit& edit,
                       WriteState& state) const;
  void keep_endless(const Event& event, const Event& clean, const OutputTime& time,
                    const TrackTarget& target, EventEdit& edit, WriteState& state) const;
  void skip_outlier(const Event& event, const EventTiming& timing, WriteState& state) const;
  void append(const Event& event, PlacedEvent place, EventEdit& edit, WriteState& state) const;
  void append_async(const AsyncAdditions& additions, const Event& event, const Event& clean,
                    const Place& place, EventEdit& edit, WriteState& state) const;
  void write_as(const Event& event, const Event& clean, const EventTiming& timing,
                const Place& place, WriteState& state) const;
  void edit_flow(const Event& event, const Event& clean, EventEdit& edit, WriteState& state) const;
  void cut_arrow(const Event& event, const Event& clean, EventEdit& edit) const;
  void edit_rare_fields(const EditedEvent& event, EventEdit& edit, ProblemCounts& problems) const;
  static void note_unplanned(const Event& event, WriteState& state);

  const MergePlan& plan_;
  const FilterPlan* filter_;  // nullptr: everything is written
  std::size_t file_;
};

}  // namespace traceloom
