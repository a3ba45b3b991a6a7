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

// ObjectRefs: renames references between objects inside args. {"id_ref": "0x7f"} refers to the
// object with that id, and a snapshot may hold objects that are named nowhere else, {"id":
// "cc::Layer/0x7f"}.
//
//   ObjectRefs refs(file, "1166", "\"ptr\"");     // for an event of that process and scope
//   if (ObjectRefs::may_have(args)) refs.append(out, args);

// Values must be strict JSON.
class ObjectRefs {
 public:
  // `pid` is canonical, `scope` the JSON text; both are those of the event. All arguments must
  // outlive this object.
  ObjectRefs(const FilePlan& file, std::string_view pid, std::string_view scope)
      : file_(file), pid_(pid), scope_(scope) {}

  // Returns false if there is nothing to rename.
  static bool may_have(std::string_view value) {
    return value.find("_ref\"") != std::string_view::npos ||
           value.find("Ref\"") != std::string_view::npos;
  }
  // Appends the value with all references renamed. A reference to an object that the file does not
  // have stays; if it would lead to an object of another file, it becomes "source_id_ref".
  void append(std::string& out, std::string_view value) const { append(out, value, false); }
  // Does the same, and also renames the ids of objects inside the snapshot.
  void append_snapshot(std::string& out, std::string_view snapshot) const;

 private:
  void append(std::string& out, std::string_view value, bool in_snapshot) const;
  void append_object(std::string& out, std::string_view object, bool in_snapshot,
                     bool is_snapshot) const;
  std::optional<std::string> new_id(std::string_view pid, std::string_view scope,
                                    std::string_view id) const;
  void append_pid(std::string& out, const std::string& pid) const;
  bool is_taken(std::string_view id) const;

  const FilePlan& file_;
  std::string_view pid_;
  std::string_view scope_;
};

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
// Renames references to objects, also those inside a snapshot.
std::string rename_object_refs(std::string_view args, bool has_snapshot, const ObjectRefs& refs);

// Returns the earliest of the times that move_clock_sync() and move_profile() would move, if any.
std::optional<std::int64_t> first_time_in_args(char phase, std::string_view args,
                                               std::int64_t start_ns);

}  // namespace traceloom
