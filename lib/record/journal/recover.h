// Recovery: finds the events of a journal that its trace file lacks, and brings them into it.
#pragma once

#include "record/buffers/clock.h"
#include "record/files/json_sink.h"
#include "record/journal/journal.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

// JournalRest: the events of a journal that its trace file does not have.
//
//   JournalRest rest(journal);
//   if (!rest.empty()) { rest.name_threads(sink, at_ns); rest.write(sink); }
//
// What the journal says of them may be damaged: slots with impossible numbers are no events, and
// are counted.

// Labels of a journal, by the numbers that they get here: 1, 2, ... without a gap.
class JournalLabels {
 public:
  explicit JournalLabels(const JournalLayout& journal);

  // Returns the number of the label that the journal calls `id`. A label without a name there gets
  // one.
  std::uint32_t number_of(std::uint32_t id);
  bool has_name(std::uint32_t number) const { return numbered_.at(number - 1)->has_name; }
  const EventLabel* find(std::uint32_t number) const { return &numbered_.at(number - 1)->label; }

 private:
  struct Kept {
    EventLabel label;
    std::vector<std::string> keys;
    bool has_name = false;
  };
  std::map<std::uint32_t, Kept> labels_;
  std::vector<const Kept*> numbered_;
};

class JournalRest {
 public:
  struct Counts {
    std::uint64_t events = 0;  // written
    // Written, but the journal had no room for the name of their marker.
    std::uint64_t unnamed = 0;
    std::uint64_t lost = 0;      // not written: their values have no names, or are no numbers
    std::uint64_t nameless = 0;  // lost, because the journal had no room for the names
    std::uint64_t damaged = 0;   // slots, each an event or a part of one

    void add(bool is_written, bool has_name);
  };

  // `journal` must have been checked, and must outlive this object. Throws Error if its times are
  // impossible.
  explicit JournalRest(const DeadJournal& journal);

  bool empty() const { return chunks_.empty(); }
  // True if there is damage, and not a single event.
  bool is_unreadable() const;
  // Names the threads that have events here.
  void name_threads(JsonSink& sink, std::int64_t at_ns) const;
  Counts write(JsonSink& sink) const;

 private:
  // A chunk that was in use, and its slots that are not in the file.
  struct Chunk {
    detail::ChunkHeader* header = nullptr;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  // `none` is an event that began before the session, or on another clock: it does not concern the
  // session.
  enum class SlotUse : std::uint8_t { event, none, damaged };
  SlotUse use_of(const Chunk& chunk, std::uint32_t at) const;

  const DeadJournal& journal_;
  TimeLine line_;
  std::vector<Chunk> chunks_;  // in the order in which threads got them
};

// recover_journals(): brings what a killed process has left in its journal into its trace file.
//
//   for (const RecoveredTrace& trace : recover_journals("/dev/shm", {"traces"}))
//     tell(trace.path, trace.events);

struct RecoveredTrace {
  std::string journal;
  std::string path;           // the trace, now complete; empty if there was nothing to write
  std::uint64_t events = 0;   // the journal had them and the file did not
  std::uint64_t unnamed = 0;  // events whose marker's name had no room in the journal
  std::uint64_t lost = 0;     // the journal had them, and they could not be written
  std::uint64_t damaged = 0;  // they cannot be read in the journal
  std::string problem;        // why the journal was not used; it is still there then
  // The problem is that the journal is not this user's own: nothing of this user is lost.
  bool is_foreign = false;
};

// Recovers all journals in `folder` whose processes have died, or those of one rank. The trace file
// of each is cut back to the last event that is known to be whole, gets the events that are
// missing, its end and its name; then the journal is deleted. Journals of processes that live are
// left alone.
//
// A journal says which file is cut and renamed, and lies where others may write. So it is used only
// if
//
// 1. journal and trace belong to this user,
// 2. both are regular files with one name, and neither is a link,
// 3. the trace has the name of an unfinished trace,
// 4. the trace lies in one of `trace_folders` or below it.
//
// A journal that holds nothing, because all its events are in a trace that is finished or gone, is
// deleted in any case. All other journals stay as they are, and `problem` says why. So do journals
// of another version, journals with impossible numbers, and journals of which no event can be read.
// Single damaged events are left out and counted, by the trace as well. If the trace cannot be
// written, it stays as it was, and so does the journal: the recovery can be tried again.
//
// Throws Error if the folder cannot be read.
std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             const std::vector<std::string>& trace_folders,
                                             std::optional<std::int64_t> rank = std::nullopt);

// Returns how many journals of this user in `folder` were made by processes that have died, more
// than a day ago. Throws Error if the folder cannot be read.
std::size_t count_old_journals(const std::string& folder);

// Returns what such a trace lacks: ", 3 without the names of their markers, 1 lost", or "" if it
// lacks nothing.
std::string words_of_loss(const RecoveredTrace& trace);
// Returns why its journal is still there, for people. Call it only if there is a problem.
std::string words_of_problem(const RecoveredTrace& trace);

}  // namespace traceloom::record
