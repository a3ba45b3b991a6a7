// copy_external_trace(): copies the events of another profiler's trace as events of ours.
//
//   copy_external_trace("rank0.pt.trace.json.gz", 0, [&](std::string_view event) { sink(event); });
#pragma once

#include "base/error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace traceloom::record {

// Thrown if part of the trace could not be read, or had to be repaired. All that can be used has
// been handed over before.
class ImperfectTrace : public Error {
 public:
  using Error::Error;
};

// Hands over each event of the trace (plain or gzip; a list, also one that is not closed or cut, or
// an object with traceEvents) with these changes:
//
//   ts    counts from 1970: the base time of the file is added (Kineto's baseTimeNanoseconds)
//   pid   becomes `rank` for the process that records, or if it has no events, for the process
//         of the first event that is no metadata, and for events without a pid. Each other one (a
//         GPU of torch, "Spans") becomes rank + k * 2^21, k = 1, 2, ... in order of appearance:
//         rows that were apart stay apart, and belong to no other rank.
//   names of that process are left out, because it has one already, and so are facts of rank and
//         clock (global_rank, clock_sync_timestamp_us, ...), because the file has its own
//   text  that is not strict JSON (NaN, bytes that are not UTF-8, raw control characters, ...) is
//         repaired as a merge repairs it (event_repair.h)
//
// Events without a phase or a usable time are left out. The file is read twice. Throws Error if it
// cannot be read or is no trace. Throws ImperfectTrace at the end if the trace is cut or damaged,
// if something was left out or repaired (it says how often, and where first), or if the base time
// is no number.
void copy_external_trace(const std::string& path, std::int64_t rank,
                         const std::function<void(std::string_view)>& use);

}  // namespace traceloom::record
