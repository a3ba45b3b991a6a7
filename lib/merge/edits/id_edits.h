// edit_ids(), edit_flow_id(): change the ids of an event, so that no viewer takes ids of two files
// for one.
//
//   edit_ids(event, plan.files[file], edit, scratch);
//   if (is_flow_phase(event.phase)) edit_flow_id(event, plan.files[file], edit, scratch);
#pragma once

#include "event/event.h"
#include "merge/edits/event_edit.h"
#include "merge/plan/plan.h"

#include <string>

namespace traceloom {

// Gives the flow that an X is bound to (bind_id), async events (b n e S T p F) and objects (N O D,
// contexts, memory dumps, profiles) the numbers of the file's id maps. Async ids are written as
// id2.local, which viewers take for an id of the process, or as id2.global (AsyncScope), and S T p
// F as b n e. `event` is as the survey saw it; the edit may be of its repaired text.
void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);
// Does the same for the id of a flow event (s t f), if it has one. Ids of PlanOptions::shared_flows
// have the same number in all files.
void edit_flow_id(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);
// Binds the end of an arrow to the slice around it.
void bind_to_slice_around(const Event& end, EventEdit& edit);

}  // namespace traceloom
