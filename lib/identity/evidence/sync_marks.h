// SyncMarks: the clock syncs that a file's events name (phase c), gathered event by event.
//
//   SyncMarks marks;
//   if (SyncMarks::is_mark(event)) marks.add(event);
//   std::vector<SyncEvent> syncs = marks.events();
#pragma once

#include "clock/sync_events.h"
#include "event/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

class SyncMarks {
 public:
  // A file with more ids than this is broken, and would fill the memory. Later ids are left out.
  static constexpr std::size_t kMaxIds = 100'000;

  // A `c`, or the legacy pair: S when another process was asked for the sync and F when it
  // answered, both named ClockSyncEvent.ID.
  static bool is_mark(const Event& event);
  void add(const Event& event);
  void add(const SyncMarks& later);

  // One an id, by id. Of several marks the one that took the shortest counts, the first of equals.
  std::vector<SyncEvent> events() const;

 private:
  struct Mark {
    std::optional<SyncEvent> event;  // the best c; its id is empty
    std::optional<std::int64_t> asked_ns;
    std::optional<std::int64_t> answered_ns;
  };
  Mark* find(const std::string& id);

  std::map<std::string, Mark> marks_;
};

}  // namespace traceloom
