// EventWriter: copies the text of an event into the merged trace and replaces only what has to
// change: time, pid, tid, and the ids of flows and async events.
//
//   EventWriter writer(file, plan);
//   writer.write(event, state);            // appends ",\n{...}" to state.out, or nothing for a
//   dropped event
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/plan.h"
#include "scan/event_scanner.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// What writing the events of a chunk gathers; one at a time may use it. Keep it from chunk to
// chunk.
struct WriteState {
  std::string out;  // events, each behind ",\n"
  ProblemCounts problems;
  std::uint64_t events = 0;  // written to out
  std::string scratch;
  EventScanner scanner;  // reads events again that were repaired
  // The track that was looked up last.
  const TrackTarget* last_track = nullptr;
  std::size_t last_file = 0;
  std::string last_pid;
  std::string last_tid;
};

// What an Error says of an input that was not the same when its events were written.
inline constexpr std::string_view kChangedWhileRead =
    "the file changed between the two times a merge reads it; merge it again when it is complete";

// Thread-safe: holds no state of its own.
class EventWriter {
 public:
  EventWriter(const MergePlan& plan, std::size_t file) : plan_(plan), file_(file) {}

  // `event` as it was read. What time_event() refuses, stray end events and metadata are left out.
  void write(const Event& event, WriteState& state) const;
  // A metadata event that the survey has kept; it is not counted in state.events.
  void write_metadata(const KeptMetadata& metadata, WriteState& state) const;

 private:
  class Edit;
  bool is_stray_end(const Event& event) const;
  void write_usable(const Event& event, const EventTiming& timing, WriteState& state) const;
  void write_as(const Event& event, const Event& clean, const EventTiming& timing,
                WriteState& state) const;
  const TrackTarget& find_track(const Event& event, WriteState& state) const;
  void edit_ids(const Event& event, Edit& edit, WriteState& state) const;

  const MergePlan& plan_;
  std::size_t file_;
};

}  // namespace traceloom
