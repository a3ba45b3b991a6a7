// Alignment: the offset that brings each file's time to the common clock, from what the files say.
//
//   std::vector<ClockFacts> facts = {{.rank = 0, .sync_us = 1000}, {.rank = 1, .sync_us = 4000}};
//   align(facts)[1].offset_ns == -3'000'000        // rank 1 reads 3 ms more at the same moment
//
// Arithmetic in whole nanoseconds only. A clock sync is a moment that all ranks stamped between two barriers
// (Composer: clock_sync_timestamp_us); each file is shifted by its own cycle's sync:
//   offset = base + sync(reference, same cycle) - sync(file)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problems.h"

namespace traceloom {

// What is known of one file's clock.
struct ClockFacts {
  std::int64_t rank = 0;
  std::optional<std::int64_t> base_ns;         // Unix ns of the file's ts 0
  std::optional<std::int64_t> sync_us;         // the moment of the sync, on the clock of base_ns or of ts
  std::optional<std::int64_t> error_bound_us;  // the length of the sync on this rank
  std::optional<std::int64_t> first_ns;        // the earliest event, as the file has it
  std::string cycle;                           // names the profiling cycle, equal on all ranks ("ep0-ba12"); may be empty
  bool is_merged = false;                      // all ranks in it are aligned already
};

enum class ClockMethod : std::uint8_t {
  sync,    // the file's own clock sync
  sync_of_rank,  // the sync of another file of the same rank, the nearest in time
  base,    // an absolute base time
  epoch,   // ts is Unix time by its size
  merged,  // aligned by an earlier merge
  none,    // nothing is known: left as it is
};
std::string_view to_string(ClockMethod method);

struct FileClock {
  ClockMethod method = ClockMethod::none;
  std::int64_t offset_ns = 0;             // common time = file time + offset_ns
  std::optional<std::int64_t> error_ns;   // how far two ranks may be apart: least bound of the cycle, plus 1 us for
                                          // the two truncated stamps; unknown without a sync
  ProblemCounts problems;                 // no_clock
};

// One FileClock a file. The reference is the lowest rank that has a sync: its files are not shifted but
// by their base. Cycles of a rank are told apart by `cycle` where the reference has a file with the same, else
// by the order of their syncs. A file without any evidence while others have some keeps offset 0 and
// counts no_clock.
std::vector<FileClock> align(const std::vector<ClockFacts>& files);

// The earliest corrected start of all files, floored to a whole microsecond (so that microsecond
// inputs stay microsecond outputs); 0 when no file has an event.
std::int64_t common_origin_ns(const std::vector<ClockFacts>& files,
                              const std::vector<FileClock>& clocks);

// "traces/ep1-ba42-rank3.json" -> "ep1-ba42": the file's name with what tells the rank, and the endings, left out; empty
// when nothing is left. Equal for the same cycle of different ranks.
std::string cycle_of_name(const std::string& path);

}  // namespace traceloom
