// CycleWriter: how cycles begin and end: their files, and what these say besides events.
//
//   CycleWriter cycle(parts, metadata, drain);
//   cycle.begin(position);
//   ...                                         // events, by EventDrain
//   cycle.end(command, dropped);
#pragma once

#include "record/engine/command_queue.h"
#include "record/engine/cycle_metadata.h"
#include "record/engine/cycle_names.h"
#include "record/engine/event_drain.h"
#include "record/engine/writer_parts.h"

#include <cstdint>
#include <string>

namespace traceloom::record {

// Only the writer's thread may use it.
class CycleWriter {
 public:
  CycleWriter(const WriterParts& parts, CycleMetadata& metadata, EventDrain& drain);

  bool is_open() const { return is_open_; }
  // Begins a cycle that takes what ended after the last one, until mark_begun() says otherwise.
  void begin(const Position& position);
  void mark_begun() { is_rest_ = false; }
  // `dropped_so_far`: the events of the session that were dropped before this end.
  void end(const Command& command, std::uint64_t dropped_so_far);

  // Notes the path of the file that comes next in the journal, if there is one.
  void announce_next_file(const Position& position);
  // Two runs that begin in one folder at a time look for a name at the same time, too. The journal
  // notes the next name before the file gets it.
  std::string next_unfinished_path(const FileState& state);

 private:
  void commit_file(const std::string& path, const FileState& state);
  void write_closing(std::uint64_t dropped);
  void end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped);
  void finish_json(const Position& position);
  void save(const Position& position, std::uint64_t dropped);
  std::string counts_json(std::uint64_t dropped) const;

  const WriterParts& parts_;
  CycleMetadata& metadata_;
  EventDrain& drain_;
  CycleNames names_;
  std::uint64_t file_ticks_;  // start of the cycle that is open, or comes next
  bool is_open_ = false;
  // The open cycle had no begin_cycle: it takes what ended after the last one.
  bool is_rest_ = false;
  CycleInfo cycle_;
  std::string path_at_begin_;  // the path of the cycle if it ended where it began
};

}  // namespace traceloom::record
