// JournalRest: the events of a journal that its trace file does not have.
//
//   JournalRest rest(journal);
//   if (!rest.empty()) { rest.name_threads(sink, at_ns); rest.write(sink); }
//
// What the journal says of them may be damaged: slots with impossible numbers are no events, and
// are counted.
#pragma once

#include "record/buffers/clock.h"
#include "record/files/json_sink.h"
#include "record/journal/dead_journal.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace traceloom::record {

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

}  // namespace traceloom::record
