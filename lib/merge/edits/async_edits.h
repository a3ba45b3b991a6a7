// edit_async(), AsyncHalves: change the async events of a merge: events of the old kind (S T p F)
// become nestable ones (b n e), and halves of slices are added where AsyncSlices asks for them.
//
//   edit_async(event, plan.files[file], edit, scratch);
//   AsyncHalves halves(event, clean, *target, plan.files[file], scratch);
//   text += halves.text('e', half, plan.files[file].async_slices, end_ns);
#pragma once

#include "event/event.h"
#include "merge/edits/event_edit.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// Edits the id and, if the event is of the old kind, its phase, name and category.
void edit_async(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);

// Makes events that belong to the operation, thread and process of an event which the merge writes.
class AsyncHalves {
 public:
  // `event` is as the survey saw it, `clean` has its text repaired. The event must have an id.
  AsyncHalves(const Event& event, const Event& clean, const TrackTarget& target,
              const FilePlan& file, std::string& scratch);

  // Returns half a slice as an event after ",\n". A member "added": true marks events that the
  // merge adds.
  std::string text(char phase, const AsyncHalf& half, const AsyncSlices& slices,
                   std::int64_t ns) const;
  // Returns the end of a slice that has none; `name` is JSON text.
  std::string unended(std::string_view name, std::int64_t ns) const;

 private:
  std::string text(char phase, std::string_view name, std::string_view category,
                   std::int64_t ns) const;

  std::string category_;  // JSON text; empty if there is none
  std::string id2_;
  std::string thread_;
};

}  // namespace traceloom
