// ShiftLines: the lines that report clocks moved by collectives, one for all ranks moved alike, as
// those of a host are.
//
//   for (const ShiftLine& line : shift_lines(shifts, ends)) warn(line.file, line.words);
//   // "ranks 4-7 shifted by -70.000 s: their collectives end with the others' (±12 us)"
#pragma once

#include "clock/alignment.h"
#include "identity/clocks/collective_islands.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

struct RankShift {
  std::size_t file = 0;
  std::vector<std::int64_t> ranks;  // of the file, at least one
  std::int64_t shift_ns = 0;
  std::int64_t bound_ns = 0;
  bool contradicts = true;  // by more than the bound
  bool is_small = false;    // the ends of its collectives are still farther apart
};

struct ShiftLine {
  std::size_t file = 0;   // that of the lowest rank
  std::size_t files = 1;  // how many it is about
  std::string words;
};

// Ranks are moved alike if their shifts lie within each other's bounds. Returns at most eight
// lines, the lowest ranks first; the last one counts those that have no room. It also names the
// ranks whose shifts are small, if others are not. Of a clock that may have been right, the line
// says how far the ends were apart and are now.
std::vector<ShiftLine> shift_lines(std::vector<RankShift> shifts, const EndSpread& ends = {});

// Returns the option that moves a clock back by `ahead_ns`: "--offset 5=-70000000000ns".
std::string offset_option(const ClockFacts& facts, const FileClock& clock, std::int64_t ahead_ns);

// Returns "rank 2" or "ranks 4-7, 9".
std::string ranks_words(const std::set<std::int64_t>& ranks);

// "2", "4-7, 9": at most eight ranges, and how many more ranks. `ranks` ascend.
std::string rank_ranges(const std::vector<std::int64_t>& ranks);

}  // namespace traceloom
