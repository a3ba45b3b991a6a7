// Launches: which call of the host launched a piece of device work.
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

// Of one rank. A call may have launched several pieces (CUDA graphs). The parts must outlive it.
class Launches {
 public:
  explicit Launches(const std::vector<EventColumns>& parts);

  // The call in the file of `part`, which has the work, by the rule of IdIndex; also one that was
  // not selected (EventColumns::calls_outside). nullptr when no call there has its correlation.
  const CallSpan* find(const EventColumns& part, const DeviceSpan& work) const;

 private:
  // Most correlations are of one call, and close to each other: those need not be sorted.
  struct Slot {
    const CallSpan* call = nullptr;
    std::size_t file = 0;
    bool has_others = false;
  };

  void make_slots(const std::vector<EventColumns>& parts);
  Slot* slot_of(std::int64_t id);

  std::int64_t first_id_ = 0;
  std::vector<Slot> slots_;         // by correlation, from first_id_ on
  IdIndex<const CallSpan*> calls_;  // of correlations that several have, or all without slots
};

}  // namespace traceloom
