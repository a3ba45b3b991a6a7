// What changes inside the args of some kinds of events. All functions take args that are strict
// JSON, or none, and give new args, or an empty text when nothing changes.
#pragma once

#include "merge/chromium/object_refs.h"
#include "merge/ids/stack_frames.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// Times in args of an event that happened at `start_ns` in its file. What is more than a minute
// away from that is of another clock, and stays.
struct ArgsTime {
  std::int64_t start_ns;
  std::int64_t shift_ns;
};
// args.issue_ts of a clock sync (c).
std::string move_clock_sync(std::string_view args, ArgsTime time);
// startTime and endTime in args.data, and in its cpuProfile, of a V8 profile (P).
std::string move_profile(std::string_view args, ArgsTime time);
// Frames (bt) and types of the entries of a memory dump's (v) heaps; `pid` is canonical.
std::string rename_heaps(std::string_view args, const FrameIds& frames, std::string_view pid);
// The keys of args.stackFrames and args.typeNames, which define those of a process.
std::string rename_dictionaries(std::string_view args, const FrameIds& frames,
                                std::string_view pid);
// References to objects, and what a snapshot holds.
std::string rename_object_refs(std::string_view args, bool has_snapshot, const ObjectRefs& refs);

// The earliest of the times that move_clock_sync() and move_profile() would move, if any.
std::optional<std::int64_t> first_time_in_args(char phase, std::string_view args,
                                               std::int64_t start_ns);

}  // namespace traceloom
