// What a file of our recorder says that it lacks: events that a full disk or a full pool took.
//
//   if (name == "recorder") add_recorder_losses(event, problems);
#pragma once

#include "base/problems.h"
#include "event/event.h"

namespace traceloom {

// Counts events_lost, events_dropped, events_unnamed and events_damaged by the metadata event
// `recorder`. What a flight recorder has overwritten is none: it keeps the last events and was
// meant to.
void add_recorder_losses(const Event& event, ProblemCounts& problems);
// True where that counts anything.
bool reports_losses(const Event& event);

}  // namespace traceloom
