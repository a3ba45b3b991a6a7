// Edits of the fields that viewers are particular about, and the rules for counters.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "merge/edits/args_edits.h"
#include "merge/edits/event_edit.h"
#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// Counters (C events): which values viewers show, and how a counter is named when several processes
// of a rank have counters of one name. Viewers know a counter by process, name and id, and a merge
// joins the processes of a rank.
//
//   if (has_counter_value(event)) facts.counters.intern(counter_key(event, scratch));
//   plan.files[1].counter_suffixes[counter_key(event, scratch)] == " [GPU 0]"

// Returns what viewers know a counter by, as far as the event has it: pid, name and id, with one
// spelling for equal values. The result is a view of `scratch`.
std::string_view counter_key(const Event& event, std::string& scratch);
// Returns true if the args have a number, or a number in quotes. A sample without one makes
// catapult drop the whole counter.
bool has_counter_value(const Event& event);
// Returns the args with only those values; the args must be strict JSON. Returns an empty text if
// nothing has to go.
std::string numbers_of_counter(std::string_view args);

// Fills EventPlan::counter_suffixes of all files.
void name_counters(MergePlan& plan);

// edit_fields(): edits the fields that viewers are particular about, and what stands inside args:
// times, references, ids of stack frames, values of counters.
//
//   if (!has_usual_fields(clean)) edit_fields({event, clean, file, time, joins}, edit, problems);
//
// Plain X, flow and async events need no such edit: they cost a few compares.

// Catapult imports nothing at all if an event of such a phase has no name; a c is written as an i.
constexpr bool needs_name(char phase) {
  return phase == 'X' || phase == 'B' || phase == 'i' || phase == 'I' || phase == 'R' ||
         phase == 'P' || phase == 'c';
}

// True if edit_fields() would change nothing. References to objects are not looked at.
inline bool has_usual_fields(const Event& event) {
  const std::string_view name = event.text(Key::name);
  if (name.empty() ? needs_name(event.phase) : !is_json_string(name)) return false;
  const std::string_view category = event.text(Key::cat);
  if (category.empty() ? is_flow_phase(event.phase) : !is_json_string(category)) return false;
  constexpr std::uint32_t kRare = Event::bit(Key::id2) | Event::bit(Key::tts) |
                                  Event::bit(Key::tdur) | Event::bit(Key::sf) |
                                  Event::bit(Key::esf) | Event::bit(Key::flow_in) |
                                  Event::bit(Key::flow_out) | Event::bit(Key::cname);
  if ((event.present & kRare) != 0) return false;
  switch (event.phase) {
    case 'X':
      return true;
    case 'i': {
      const std::string_view scope = event.text(Key::s);
      return !event.has(Key::dur) &&
             (scope.empty() || (scope.size() == 3 && (scope[1] == 't' || scope[1] == 'p')));
    }
    case 'B':
    case 'E':
    case 's':
    case 't':
    case 'f':
    case 'b':
    case 'n':
    case 'e':
      return !event.has(Key::dur);
    default:
      return false;
  }
}

// An event on its way into the output.
struct EditedEvent {
  const Event& event;  // as the survey saw it
  const Event& clean;  // the same, or its repaired text
  const FilePlan& file;
  ArgsTime time;
  bool joins_slices;  // B and E become X, which sets their dur elsewhere
};

// Edits the fields of an event; counts bad_field and bad_counter.
void edit_fields(const EditedEvent& event, EventEdit& edit, ProblemCounts& problems);
// Renames references to objects in the args of any event. Only plans that have objects need it.
void edit_object_refs(const EditedEvent& event, EventEdit& edit);

}  // namespace traceloom
