// Edits inside the args of some kinds of events. Each function takes args that are strict JSON (or
// empty) and returns new args, or an empty text if nothing changes.
#pragma once

#include "merge/chromium/object_refs.h"
#include "merge/ids/stack_frames.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

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
