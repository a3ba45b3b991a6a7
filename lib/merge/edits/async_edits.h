// What a merge does to async events: those of the old kind (S T p F) become nestable ones (b n e),
// and where AsyncSlices says so, other halves of slices come with them.
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

// The id and, of an old event, phase, name and category.
void edit_async(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);

// Events of the operation, thread and process of one that the merge writes.
class AsyncHalves {
 public:
  // `event` as the survey saw it, `clean` with its text repaired; it has an id.
  AsyncHalves(const Event& event, const Event& clean, const TrackTarget& target,
              const FilePlan& file, std::string& scratch);

  // Both behind ",\n", marked by a member "added": true.
  std::string text(char phase, const AsyncHalf& half, const AsyncSlices& slices,
                   std::int64_t ns) const;
  // The end of a slice that nothing ends; `name` is JSON text.
  std::string unended(std::string_view name, std::int64_t ns) const;

 private:
  std::string text(char phase, std::string_view name, std::string_view category,
                   std::int64_t ns) const;

  std::string category_;  // JSON text; empty for none
  std::string id2_;
  std::string thread_;
};

}  // namespace traceloom
