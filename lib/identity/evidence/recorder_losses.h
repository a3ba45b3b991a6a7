// add_recorder_losses: counts the events that a file of our recorder lacks because of a full disk
// or a full pool.
//
//   if (name == "recorder") add_recorder_losses(event, problems);
#pragma once

#include "base/problems.h"
#include "event/event.h"

namespace traceloom {

// Counts events_lost, events_dropped, events_unnamed and events_damaged of the metadata event
// `recorder`. Events that a flight recorder has overwritten are no loss: it is meant to keep only
// the last ones.
void add_recorder_losses(const Event& event, ProblemCounts& problems);
// True if add_recorder_losses() counts anything for the event.
bool reports_losses(const Event& event);

}  // namespace traceloom
