// Counters (C): which values count, and what a counter is called when several processes of a rank
// have one of its name. Viewers know a counter by process, name and id, and the processes of a rank
// become one.
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

// What viewers tell counters apart by, as far as it stands in the event: pid, name and id, in one
// spelling for what is the same. A view of `scratch`.
std::string_view counter_key(const Event& event, std::string& scratch);
// True when the args have a number, or a number in quotes. A sample without one makes catapult drop
// the whole counter.
bool has_counter_value(const Event& event);
// The args with nothing but those; they must be strict JSON. Empty when nothing has to go.
std::string numbers_of_counter(std::string_view args);

// Fills FilePlan::counter_suffixes of all files.
void name_counters(const std::vector<FileSurvey>& surveys, MergePlan& plan);

}  // namespace traceloom
