// plan_memory(): what a merge may hold at a time, given its memory.
//
//   const MemoryPlan memory = plan_memory(std::uint64_t{64} << 20, 8);
//   scan_files(paths, visitor, {memory.threads, memory.chunks_in_flight, memory.max_event_bytes});
#pragma once

#include "merge/slices/slice_joiner.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace traceloom {

struct MemoryPlan {
  unsigned threads = 0;
  std::size_t chunks_in_flight = 0;
  std::size_t max_event_bytes = kMaxEventBytes;
  std::size_t max_join_bytes = SliceJoiner::kMaxBytes;
  std::size_t max_open_begins = std::numeric_limits<std::size_t>::max();  // in one file
};

// Plans for a peak of resident memory that stays below `max_memory`, using measured sizes of the
// program itself, of chunks with what is made of them, of begin and end events that wait for each
// other, and of one event that is larger than a chunk. The plan does not know what the inputs make
// a merge remember (tracks, odd ids, begin events that stay open).
//
// A narrow plan has fewer chunks, then fewer threads, which changes nothing in what is written. It
// also joins begin and end events earlier, so that they may stand elsewhere among the others and
// fewer may be out of order, and accepts smaller events only. Without a `max_memory` nothing is
// narrowed. `threads` 0 means as many as there are cores; `sorts` means that events are sorted by
// time (TimeSorter).
//
// Throws UsageError, which names the least value, if `max_memory` is too little.
MemoryPlan plan_memory(std::optional<std::uint64_t> max_memory, unsigned threads,
                       bool sorts = false);

}  // namespace traceloom
