// The visitor that writes the events of a merge, the memory that it may take, and what it knows
// in the end.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/edits/event_edit.h"
#include "merge/facts/file_survey.h"
#include "merge/order/event_block.h"
#include "merge/order/merge_output.h"
#include "merge/plan/plan.h"
#include "merge/rows/track_plan.h"
#include "merge/slices/slice_joiner.h"
#include "output/sink.h"
#include "scan/event_scanner.h"
#include "scan/scan_files.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// EventWriter: copies the text of an event into the merged trace and replaces only what has to
// change: time, pid, tid, and the ids of flows and async events.
//
//   EventWriter writer(plan, file);
//   writer.write(event, time_event(event, state.problems), state);   // to state.block, or nothing
//                                                                     // for a dropped one

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

// plan_memory(): what a merge may hold at a time, given its memory.
//
//   const MemoryPlan memory = plan_memory(std::uint64_t{64} << 20, 8);
//   scan_files(paths, visitor, {memory.threads, memory.chunks_in_flight, memory.max_event_bytes});

struct MemoryPlan {
  unsigned threads = 0;
  std::size_t chunks_in_flight = 0;
  std::size_t max_event_bytes = kMaxEventBytes;
  std::size_t max_join_bytes = SliceJoiner::kMaxBytes;
  std::size_t max_open_begins = std::numeric_limits<std::size_t>::max();  // in one file
  std::string beside;  // what does not fit is written to nameless files beside this file
};

// Plans for a peak of resident memory that stays below `max_memory`, using measured sizes of the
// program itself, of chunks with what is made of them, of begin and end events that wait for each
// other, and of one event that is larger than a chunk. The plan does not know what the inputs make
// a merge remember (tracks, odd ids, begin events that stay open).
//
// A narrow plan has fewer chunks, then fewer threads, which changes nothing in what is written. It
// also joins begin and end events earlier, so that they may stand elsewhere among the others and
// fewer may be out of order, and accepts smaller events only. Without a `max_memory` nothing is
// narrowed. `threads` 0 means as many as there are cores; `sorts` means that events are sorted by
// time (TimeSorter).
//
// Throws UsageError, which names the least value, if `max_memory` is too little.
MemoryPlan plan_memory(std::optional<std::uint64_t> max_memory, unsigned threads,
                       bool sorts = false);

// WrittenFile: what is known of a file once its events are written.
//
//   WrittenFiles part = visitor.take_part();               // on the process that has written some
//   first_visitor.add_part(part);                          // on the one that writes the end

struct WrittenFile {
  std::uint64_t events = 0;
  ProblemCounts problems = {};  // of its metadata, too
  std::uint64_t text_bytes = 0;

  // Adds what was written of the file by another process, or to the trace of another rank.
  void add(const WrittenFile& other) {
    events += other.events;
    problems.add(other.problems);
  }
};

using WrittenFiles = std::vector<WrittenFile>;  // one a file

// WriteVisitor: writes the events of all files as a plan says, for scan_files() or together with
// another visitor.
//
//   WriteVisitor visitor(plan, output);
//   visitor.write_head();
//   scan_files(paths, visitor, {});
//   visitor.finish();

// An event that the plan cannot place.
struct Unplanned {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  bool has_too_many_begins = false;  // open at a time; a survey may not have seen them
};

class WriteVisitor : public FileVisitor {
 public:
  // `plan` and `output` must outlive the visitor.
  WriteVisitor(const MergePlan& plan, Sink& output, const MemoryPlan& memory = {});
  ~WriteVisitor() override;
  // Writes a row that no input has, and returns the number of its events that were written: none of
  // a rank or a time that the plan leaves out, and none before time 0. Returns nothing if no input
  // is of the rank, or has a clock for the row.
  std::optional<std::uint64_t> add_row(const AddedRow& row);
  // Must be called after all files have been taken.
  void finish();

  // Several processes may each write some of the files. All but the first call take_part() in place
  // of finish(); the first adds their parts in the order of the files, and then calls finish().
  WrittenFiles take_part();
  void add_part(const WrittenFiles& part);

  // Writes the head of the trace and the metadata that the surveys have kept. They come before all
  // other events, so that a merge of a merge finds them where it puts them itself.
  void write_head();

  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  // The two halves of visit(). Problems of the timing are counted once.
  EventTiming time(ChunkResult& result, const Event& event) const;
  void write(ChunkResult& result, std::size_t file, const Event& event,
             const EventTiming& timing) const;
  void finish_chunk(ChunkResult& result) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;

  // Returns the first event for which the plan has no place: from there on nothing is written.
  const std::optional<Unplanned>& unplanned() const { return unplanned_; }
  const WrittenFiles& written() const { return written_; }

 private:
  struct Chunk;
  void take_joined(std::size_t file);
  void end_unended();
  OwnClocks times_of(std::int64_t rank) const;

  const MergePlan& plan_;
  Sink& output_;
  std::unique_ptr<BlockOutput> blocks_;
  bool is_part_;
  std::size_t max_join_bytes_;
  std::size_t max_open_begins_;
  std::vector<EventWriter> writers_;
  WrittenFiles written_;
  std::unique_ptr<SliceJoiner> slices_;  // for the file that is being taken, if it has B or E
  std::vector<UnendedAsync> unended_;    // the unended ones of that file
  LastEnds last_ends_;                   // the ends of events of that file
  std::optional<Unplanned> unplanned_;
  std::uint32_t added_rows_ = 0;
  std::atomic<bool> stopped_ = false;  // unplanned_ is set; for other threads
};

}  // namespace traceloom
