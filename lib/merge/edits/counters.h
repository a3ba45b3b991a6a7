// Counters (C events): which values viewers show, and how a counter is named when several processes
// of a rank have counters of one name. Viewers know a counter by process, name and id, and a merge
// joins the processes of a rank.
//
//   if (has_counter_value(event)) survey.counters.emplace(counter_key(event, scratch));
//   plan.files[1].counter_suffixes[counter_key(event, scratch)] == " [GPU 0]"
#pragma once

#include "event/event.h"
#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Returns what viewers know a counter by, as far as the event has it: pid, name and id, with one
// spelling for equal values. The result is a view of `scratch`.
std::string_view counter_key(const Event& event, std::string& scratch);
// Returns true if the args have a number, or a number in quotes. A sample without one makes
// catapult drop the whole counter.
bool has_counter_value(const Event& event);
// Returns the args with only those values; the args must be strict JSON. Returns an empty text if
// nothing has to go.
std::string numbers_of_counter(std::string_view args);

// Fills FilePlan::counter_suffixes of all files.
void name_counters(const std::vector<FileSurvey>& surveys, MergePlan& plan);

}  // namespace traceloom
