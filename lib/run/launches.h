// Launches: finds the call of the host that launched a piece of device work.
//
//   Launches launches(rank.parts);
//   for (const EventColumns& part : rank.parts)
//     for (const DeviceSpan& span : part.devices)
//       if (const CallSpan* call = launches.find(part, span)) delay = span.start_ns - call->end_ns;
#pragma once

#include "run/event_columns.h"
#include "run/id_index.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// Serves one rank, whose parts must outlive it. A call may have launched several pieces (CUDA
// graphs).
class Launches {
 public:
  explicit Launches(const std::vector<EventColumns>& parts);

  // Returns the call in the file of `part`, to which the work belongs, by the rule of IdIndex. The
  // call may be outside the selection (EventColumns::calls_outside). Returns nullptr if no call
  // there has the work's correlation.
  const CallSpan* find(const EventColumns& part, const DeviceSpan& work) const {
    return find(part.file, work);
  }
  // The same for work in the file with that number (EventColumns::file).
  const CallSpan* find(std::size_t file, const DeviceSpan& work) const;

 private:
  // Most correlations belong to one call and are close to each other; those need no sorting.
  struct Slot {
    const CallSpan* call = nullptr;
    std::size_t file = 0;
    bool has_others = false;
  };

  void make_slots(const std::vector<EventColumns>& parts);
  Slot* slot_of(std::int64_t id);

  std::int64_t first_id_ = 0;
  std::vector<Slot> slots_;         // indexed by correlation - first_id_
  IdIndex<const CallSpan*> calls_;  // for correlations that several calls have, or for all if there
                                    // are no slots
};

}  // namespace traceloom
