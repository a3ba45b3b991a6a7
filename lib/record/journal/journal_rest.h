// JournalRest: the events of a journal that its trace file does not have.
//
//   JournalRest rest(journal);
//   if (!rest.empty()) { rest.name_threads(sink, at_ns); rest.write(sink); }
//
// What the journal says of them may be damaged: numbers that cannot be are no events, and are
// counted.
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

  // What stands for the label that the journal calls `id`. One that has no name there gets one.
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
    std::uint64_t events = 0;    // that were written
    std::uint64_t unnamed = 0;   // of those: the journal had no room for the name of their marker
    std::uint64_t lost = 0;      // that could not be: their values have no names, or are no numbers
    std::uint64_t nameless = 0;  // of those: the journal had no room for the names
    std::uint64_t damaged = 0;   // slots, each an event or a part of one

    void add(bool is_written, bool has_name);
  };

  // `journal` was checked, and lives as long. Throws Error where its times cannot be.
  explicit JournalRest(const DeadJournal& journal);

  bool empty() const { return chunks_.empty(); }
  // True where there is damage, and not a single event.
  bool is_unreadable() const;
  // Of those that have events here.
  void name_threads(JsonSink& sink, std::int64_t at_ns) const;
  Counts write(JsonSink& sink) const;

 private:
  // A chunk that was in use, and which of its slots are not in the file.
  struct Chunk {
    detail::ChunkHeader* header = nullptr;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  // An event that began before the session, or on another clock, does not concern it: none.
  enum class SlotUse : std::uint8_t { event, none, damaged };
  SlotUse use_of(const Chunk& chunk, std::uint32_t at) const;

  const DeadJournal& journal_;
  TimeLine line_;
  std::vector<Chunk> chunks_;  // in the order in which threads got them
};

}  // namespace traceloom::record
