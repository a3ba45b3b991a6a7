// SliceHalves: the begin (B) and end events (E) of a chunk, written as far as that can be done
// before they are joined.
//
//   halves.add(event, start_ns, {text, ...});     // in parallel, by EventWriter
//   joiner.take(halves);                          // in file order
#pragma once

#include "event/event_timing.h"
#include "merge/slices/last_starts.h"
#include "scan/begin_end.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct SliceHalf {
  // For a B: the whole event as an X, but for its duration. For an E: its args, or nothing.
  std::string text;
  // For a B: places in `text`, where the duration goes, and the args.
  std::size_t duration_at = 0;
  bool has_duration_key = false;  // the key is there already, only the number is missing
  std::size_t args_begin = 0;     // equal to args_end when there are none
  std::size_t args_end = 0;
  std::uint32_t track = 0;  // TrackTarget::number
  std::int64_t rank = 0;
  std::optional<std::int64_t> thread_ns = {};  // time on the clock of the thread (tts)
  std::string frame = {};                      // for an E: its stack frame (sf), JSON text
  std::string cut_id = {};     // for an E that cuts a slice which goes on: its id, JSON text
  bool is_superseded = false;  // for such an E: another file has the whole slice
  bool wanted = true;          // for a B: false if a filter drops the pair; then there is no text
};

// An X without dur, or one that never ended: a begin that no end will close.
struct EndlessSlice {
  std::int64_t start_ns;  // in time of the merge
  std::uint64_t offset;   // offset in its file
  SliceHalf half;
  SliceEnd slice_end;  // missing or never
};

// Holds one B or E event after the other. Reuse it: it keeps its memory.
struct SliceHalves {
  BeginEndBatch batch;
  std::vector<SliceHalf> halves;  // one for each record of the batch
  std::vector<EndlessSlice> endless;
  LastStarts last_starts;  // for a file with slices without dur

  // `start_ns` is in time of the merge.
  void add(const Event& event, std::int64_t start_ns, SliceHalf half) {
    batch.add(event, start_ns);
    halves.push_back(std::move(half));
  }
  bool empty() const { return batch.empty() && endless.empty() && last_starts.empty(); }
  void clear() {
    batch.clear();
    halves.clear();
    endless.clear();
    last_starts.clear();
  }
};

}  // namespace traceloom
