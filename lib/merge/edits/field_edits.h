// Edits of the fields that viewers are particular about, and the rules for counters.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "merge/edits/event_edit.h"
#include "merge/facts/file_survey.h"
#include "merge/facts/ids.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// Edits inside the args of events: references between objects, names of types, ids of stack
// frames.

// Calls `found` with the id (JSON text) of each object within the snapshot.
void find_objects_in_snapshot(std::string_view snapshot,
                              const std::function<void(std::string_view id)>& found);

// TypeNames: makes one metadata event of all those of a process that name the types of its heap
// dumps. Catapult takes only the first one of a process, and a rank's process may have been
// several.
//
//   TypeNames names;
//   if (!names.take(event)) output.write(event);     // events as they are written
//   output.write(names.events());

class TypeNames {
 public:
  // Returns false for any other event. `event` is strict JSON after ",\n"; its names of types are
  // unique to their file and process already.
  bool take(std::string_view event);
  // Returns what has been taken, as one event a process.
  std::string events() const;

 private:
  std::map<std::string, std::string> events_;  // key: pid
};

// Edits inside the args of some kinds of events. Each function takes args that are strict JSON (or
// empty) and returns new args, or an empty text if nothing changes.

// Moves times in args: `start_ns` is the time of the event in its file, `shift_ns` is
// added. A time that is more than a minute away from `start_ns` belongs to another clock and stays.
struct ArgsTime {
  std::int64_t start_ns;
  std::int64_t shift_ns;
};
// Moves args.issue_ts of a clock sync (c).
std::string move_clock_sync(std::string_view args, ArgsTime time);
// Moves startTime and endTime in args.data, and in its cpuProfile, of a V8 profile (P).
std::string move_profile(std::string_view args, ArgsTime time);
// Renames the frames (bt) and types in the heap entries of a memory dump (v); `pid` is canonical.
std::string rename_heaps(std::string_view args, const FrameIds& frames, std::string_view pid);
// Renames the keys of args.stackFrames and args.typeNames, which define the frames and types of a
// process.
std::string rename_dictionaries(std::string_view args, const FrameIds& frames,
                                std::string_view pid);
// Renames references between objects, for an event of that process (canonical pid) and scope (JSON
// text): {"id_ref": "0x7f"} refers to the object with that id, and a snapshot may hold objects that
// are named nowhere else, {"id": "cc::Layer/0x7f"}. A reference to an object that the file does not
// have stays; if it would lead to an object of another file, it becomes "source_id_ref".
std::string rename_object_refs(std::string_view args, bool has_snapshot, const FilePlan& file,
                               std::string_view pid, std::string_view scope);

// Returns the earliest of the times that move_clock_sync() and move_profile() would move, if any.
std::optional<std::int64_t> first_time_in_args(char phase, std::string_view args,
                                               std::int64_t start_ns);

// Counters (C events): which values viewers show, and how a counter is named when several processes
// of a rank have counters of one name. Viewers know a counter by process, name and id, and a merge
// joins the processes of a rank.
//
//   if (has_counter_value(event)) facts.counters.intern(counter_key(event, scratch));
//   plan.files[1].counter_suffixes[counter_key(event, scratch)] == " [GPU 0]"

// Returns what viewers know a counter by, as far as the event has it: pid, name and id, with one
// spelling for equal values. The result is a view of `scratch`.
std::string_view counter_key(const Event& event, std::string& scratch);
// The same for a counter without an id.
std::string counter_key(std::int64_t pid, std::string_view name);
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
