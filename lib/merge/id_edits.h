// What a merge does to the ids of an event, so that no viewer takes those of two files for one.
//
//   edit_ids(event, plan.files[file], edit, scratch);
#pragma once

#include "event/event.h"
#include "merge/event_edit.h"
#include "merge/plan.h"

#include <string>

namespace traceloom {

// Flows (s t f, bind_id), async events (b n e S T p F) and objects (N O D, contexts, memory dumps,
// profiles) get the numbers of the file's id maps; async ids are written as id2.local, which
// viewers take for one of the process, or id2.global (AsyncScope), and S T p F as b n e. Flow
// events of PlanOptions::shared_flows get numbers that are the same in all files. `event` is as the
// survey saw it; the edit may be of its repaired text.
void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);
// Makes an end of an arrow one that is bound to the slice around it.
void bind_to_slice_around(const Event& end, EventEdit& edit);

}  // namespace traceloom
