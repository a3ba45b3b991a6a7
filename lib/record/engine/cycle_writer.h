// EventDrain and CycleWriter write a cycle: its events, and the names of its files and what these
// say besides events.
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/engine/writer_parts.h"
#include "record/files/event_sources.h"
#include "record/journal/journal.h"
#include "record/session.h"
#include "record/trace_handler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace traceloom::record {

// EventDrain: takes events out of the threads' chunks, hands them to the handlers, and counts them.
//
//   EventDrain drain(parts);
//   drain.begin_cycle();
//   drain.drain(ticks);      // what was recorded until then
//   drain.flush();           // what the handlers have is in the file, as far as it can be
//
// It takes slots out of chunks that are still being filled, so no thread has to help it.

// Only the writer's thread may use it.
class EventDrain {
 public:
  explicit EventDrain(const WriterParts& parts);

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
  const EventThread& thread_of(const detail::ChunkHeader& chunk);
  void check_labels();
  void count_left_out();

  const WriterParts& parts_;
  ChunkPool& pool_;
  EventFeeder feeder_;
  std::map<std::uint32_t, EventThread> threads_;
  std::set<std::uint32_t> named_threads_;  // threads named in the file
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

// CycleWriter: how cycles begin and end: their files, and what these say besides events: rank,
// host, clock.
//
//   CycleWriter cycle(parts, drain);
//   cycle.begin(position);
//   ...                                         // events, by EventDrain
//   cycle.end(command, dropped);

// Only the writer's thread may use it.
class CycleWriter {
 public:
  CycleWriter(const WriterParts& parts, EventDrain& drain);

  bool is_open() const { return is_open_; }
  // Begins a cycle that takes what ended after the last one, until go_on() says otherwise.
  void begin(const Position& position);
  // Makes it a cycle that the schedule wants, whose ranks have met at its begin.
  void go_on(const SyncRounds& rounds);
  // `dropped_so_far`: the events of the session that were dropped before this end.
  void end(const Command& command, std::uint64_t dropped_so_far);

  // Notes the path of the file that comes next in the journal, if there is one.
  void announce_next_file(const Position& position);
  // Two runs that begin in one folder at a time look for a name at the same time, too. The journal
  // notes the next name before the file gets it.
  std::string next_unfinished_path(const FileState& state);

 private:
  std::string path_at(const Position& position);
  std::string final_path_at(const Position& position);
  void commit_file(const std::string& path, const FileState& state);
  void write_opening();
  // Writes the rounds of barriers by which the clocks of ranks are compared; `group` is "start" or
  // "end".
  void write_rounds(const SyncRounds& rounds, const char* group);
  void write_closing(std::uint64_t dropped);
  void end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped);
  void finish_json(const Position& position);
  void save(const Position& position, std::uint64_t dropped);
  std::string counts_json(std::uint64_t dropped) const;

  const WriterParts& parts_;
  EventDrain& drain_;
  std::uint64_t file_ticks_;  // start of the cycle that is open, or comes next
  bool is_open_ = false;
  // The open cycle had no begin_cycle: it takes what ended after the last one.
  bool is_rest_ = false;
  CycleInfo cycle_;
  std::string path_at_begin_;         // the path of the cycle if it ended where it began
  std::optional<Position> last_end_;  // the end of the cycle before
  std::set<std::string> own_paths_;   // paths of the files so far, if files may be overwritten
};

}  // namespace traceloom::record
