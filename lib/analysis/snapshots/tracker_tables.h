// The tables of files about memory share these words and the spread over ranks.
#pragma once

#include "analysis/snapshots/memory_files.h"
#include "base/units.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

namespace traceloom {

inline constexpr std::size_t kRowsForPeople = 40;

inline std::string percent_words(std::int64_t part, std::int64_t all) {
  return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

// The least and the most that a place, kind or module holds over ranks.
struct Spread {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t most_rank = 0;
  std::int64_t ranks = 0;

  void add(std::int64_t bytes, std::int64_t rank) {
    if (ranks == 0 || bytes > most) std::tie(most, most_rank) = std::tuple(bytes, rank);
    least = ranks == 0 ? bytes : std::min(least, bytes);
    ++ranks;
  }
};

// Adds what tracker reports, timelines and failures in memory stats say.
void add_trackers(const MemoryFiles& files, Report& report);

}  // namespace traceloom
