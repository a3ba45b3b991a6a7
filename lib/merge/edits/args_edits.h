// Edits inside the args of events: references between objects, names of types, ids of stack
// frames.
#pragma once

#include "merge/facts/ids.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

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

}  // namespace traceloom
