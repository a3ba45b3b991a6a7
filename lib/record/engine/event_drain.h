// EventDrain: takes events out of the threads' chunks, hands them to the handlers, and counts them.
//
//   EventDrain drain(parts, metadata);
//   drain.begin_cycle();
//   drain.drain(ticks);      // what was recorded until then
//   drain.flush();           // what the handlers have is in the file, as far as it can be
//
// It takes slots out of chunks that are still being filled, so no thread has to help it.
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/engine/cycle_metadata.h"
#include "record/engine/writer_parts.h"
#include "record/files/event_feeder.h"
#include "record/journal/journal.h"

#include <cstdint>
#include <vector>

namespace traceloom::record {

// Only the writer's thread may use it.
class EventDrain {
 public:
  EventDrain(const WriterParts& parts, CycleMetadata& metadata);

  void begin_cycle();
  void drain(std::uint64_t up_to_ticks);
  // Writes what the handlers have into the file, and notes it in the chunks.
  void flush();
  // Writes ends for long-running markers that are open. Whoever reads this file alone sees them up
  // to here; the file in which they end has the whole slices.
  void cut_open_slices(std::uint64_t at_ticks);
  // Returns whether there are events that no file has, or that were dropped and no file says so.
  bool has_untold_events();

  // The events of the cycle, and those of them that are not in the file.
  std::uint64_t events() const { return events_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t in_file() const { return events_ - lost_; }
  void lose(std::uint64_t events) { lost_ += events; }
  // Adds to the status what has been counted since the last call.
  void tell_counts();
  // Returns how many of the events dropped so far no file has reported; a file does now.
  std::uint64_t take_dropped(std::uint64_t so_far);

 private:
  std::uint32_t drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks);
  bool has_waiting_events();
  JournalLayout::CycleCounts cycle_counts() const;
  void check_labels();
  void count_left_out();

  const WriterParts& parts_;
  CycleMetadata& metadata_;
  ChunkPool& pool_;
  EventFeeder feeder_;
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t told_events_ = 0;  // part of both that is in the status
  std::uint64_t told_lost_ = 0;
  std::uint64_t dropped_before_ = 0;  // dropped events that earlier files have reported
  bool is_left_out_told_ = false;     // reported in this cycle
  bool is_label_loss_told_ = false;   // reported in this session
  std::vector<Journal::Written> written_;
  std::vector<detail::ChunkHeader*> done_;
};

}  // namespace traceloom::record
