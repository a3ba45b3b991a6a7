// The events of another profiler's trace, as events of ours.
//
//   copy_external_trace("rank0.pt.trace.json.gz", 0, [&](std::string_view event) { sink(event); });
#pragma once

#include "base/error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace traceloom::record {

// Something that the trace said could not be read, or had to be mended; all that is of use has been
// handed over.
class ImperfectTrace : public Error {
 public:
  using Error::Error;
};

// Hands over each event of the trace (plain or gzip; a list, also one that is not closed or cut, or
// an object with traceEvents) with these changes:
//
//   ts    counts from 1970: what the file's base time says is added (Kineto's baseTimeNanoseconds)
//   pid   of the process that records, or else of the first event that is no metadata: `rank`, and
//         so where there is none. Each other one (a GPU of torch, "Spans") becomes rank + k * 2^21,
//         k = 1, 2, ... in order of appearance: rows that were apart stay apart, and are no other
//         rank's.
//   names of that process are left out: it has one already; and so is what tells a rank or a clock
//         (global_rank, clock_sync_timestamp_us, ...): the file has its own
//   text  that is not strict JSON (NaN, bytes that are not UTF-8, raw control characters, ...) is
//         mended as a merge mends it (event_repair.h)
//
// Events without a phase or a usable time are left out. The file is read twice. Throws Error when
// it cannot be read or is no trace, and ImperfectTrace, at the end, when it is cut or damaged,
// something was left out or mended: how often, and where first; or when its base time is none.
void copy_external_trace(const std::string& path, std::int64_t rank,
                         const std::function<void(std::string_view)>& use);

}  // namespace traceloom::record
