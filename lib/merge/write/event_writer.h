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
#include "merge/arrows/arrow_tally.h"
#include "merge/edits/async_edits.h"
#include "merge/ids/id_keys.h"
#include "merge/order/event_block.h"
#include "merge/plan/output_time.h"
#include "merge/plan/plan.h"
#include "merge/rows/track_cache.h"
#include "merge/slices/last_ends.h"
#include "merge/slices/overlap_check.h"
#include "merge/slices/slice_halves.h"
#include "scan/event_scanner.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// What writing the events of a chunk gathers; one at a time may use it. Keep it from chunk to
// chunk.
struct WriteState {
  EventBlock block;
  ProblemCounts problems;
  std::uint64_t events = 0;  // written to the block, without metadata
  SliceHalves halves;  // B and E events, which are not in the block, unless they are to be kept
  std::vector<FlowEnd> flow_ends;  // in the block
  std::vector<UnendedAsync> unended;
  LastEnds last_ends;
  // The first event that the plan did not expect: of a track that it does not have, or before its
  // origin. Such events are not written.
  std::optional<std::uint64_t> unplanned;

  // For the next chunk. Its memory is kept, but for that of large events: there are many states.
  void reset() {
    if (block.text.size() > kManyBytes && events < kFewEvents) block = {};
    block.clear();
    problems = {};
    events = 0;
    halves.clear();
    flow_ends.clear();
    unended.clear();
    last_ends.clear();
    unplanned.reset();
    overlaps.forget();
    tracks.reset();
  }

  static constexpr std::size_t kManyBytes = std::size_t{2} << 20;
  static constexpr std::uint64_t kFewEvents = 64;
  OverlapCheck overlaps;
  FlowLabel flow_label;
  std::string scratch;
  EventScanner scanner;  // reads events again that were repaired
  TrackCache tracks;
  FilterMemory filter_memory;
};

// Thread-safe: holds no state of its own.
class EventWriter {
 public:
  EventWriter(const MergePlan& plan, std::size_t file)
      : plan_(plan), filter_(plan.filter ? &*plan.filter : nullptr), file_(file) {}

  // `event` as it was read, with its time_event(). What that refuses, stray end events, metadata
  // and what the plan's filter drops are left out; B and E go to state.halves; with
  // MergePlan::keeps_begin_end only those of one time do, which Perfetto would take apart (at one
  // time it looks at ends first), and what is never closed, which would take in all that follows
  // in other files.
  void write(const Event& event, const EventTiming& timing, WriteState& state) const;
  // Whether the plan leaves out the rank that the event is of.
  bool is_left_out(const Event& event, WriteState& state) const;
  // A metadata event that the survey has kept; it is not counted in state.events.
  void write_metadata(const KeptMetadata& metadata, WriteState& state) const;

 private:
  bool is_left_out(const TrackTarget* target) const;
  bool is_stray_end(const Event& event) const;
  bool is_joined(const Event& event) const;
  // Where an event goes; nothing where the plan has no place for it, or its time does not fit.
  struct Place {
    const TrackTarget* target = nullptr;
    std::optional<OutputTime> time = {};  // none for metadata, too
  };
  const TrackTarget* find_track(const Event& event, WriteState& state) const;
  static void note_slice(const Event& event, const Place& place, WriteState& state);
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
  void edit_flow(const Event& event, const Event& clean, std::int64_t start_ns, EventEdit& edit,
                 WriteState& state) const;
  char cut_arrow(const Event& event, const Event& clean, EventEdit& edit) const;
  void edit_rare_fields(const EditedEvent& event, EventEdit& edit, ProblemCounts& problems) const;
  static void note_unplanned(const Event& event, WriteState& state);

  const MergePlan& plan_;
  const FilterPlan* filter_;  // nullptr: everything is written
  std::size_t file_;
};

}  // namespace traceloom
