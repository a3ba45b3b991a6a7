// SyncMarks: the clock syncs in a file's events (phase c), gathered event by event.
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
  // A file with more ids is broken and would fill the memory. Later ids are left out.
  static constexpr std::size_t kMaxIds = 100'000;

  // True for a `c`, and for the legacy pair named ClockSyncEvent.ID: S when another process was
  // asked for the sync, and F when it answered.
  static bool is_mark(const Event& event);
  void add(const Event& event);
  void add(const SyncMarks& later);

  // Returns one event for each id, sorted by id. Of several marks the one that took the shortest
  // time counts, the first of equals.
  std::vector<SyncEvent> events() const;

  template <typename Wire>
  void wire(Wire& wire) {
    wire(marks_);
  }

 private:
  struct Mark {
    std::optional<SyncEvent> event;  // the best c; its id is empty
    std::optional<std::int64_t> asked_ns;
    std::optional<std::int64_t> answered_ns;

    template <typename Wire>
    void wire(Wire& wire) {
      wire(event, asked_ns, answered_ns);
    }
  };
  Mark* find(const std::string& id);

  std::map<std::string, Mark> marks_;
};

}  // namespace traceloom
