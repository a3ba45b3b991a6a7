#include "oracle/clock_bounds.h"

#include <algorithm>

namespace traceloom::oracle {

std::vector<std::pair<std::int64_t, std::int64_t>> clock_bounds(std::size_t clocks,
                                                                const std::vector<Round>& rounds) {
  // most[a][b]: clock b is at most so much ahead of clock a.
  std::vector<std::vector<std::int64_t>> most(clocks, std::vector<std::int64_t>(clocks, kFar));
  for (std::size_t a = 0; a < clocks; ++a) most[a][a] = 0;
  for (const Round& round : rounds)
    for (std::size_t i = 0; i < round.parts.size(); ++i)
      for (std::size_t j = 0; j < round.parts.size(); ++j) {
        // Part i entered, or sent, before part j left, or had received.
        if (i == j || (round.is_message && i != 0)) continue;
        const Part& first = round.parts[i];
        const Part& last = round.parts[j];
        std::int64_t& ahead = most[first.clock][last.clock];
        ahead = std::min(ahead, last.end - first.begin);
      }
  for (std::size_t by = 0; by < clocks; ++by)
    for (std::size_t a = 0; a < clocks; ++a)
      for (std::size_t b = 0; b < clocks; ++b)
        if (most[a][by] < kFar && most[by][b] < kFar)
          most[a][b] = std::min(most[a][b], most[a][by] + most[by][b]);
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds;
  for (std::size_t clock = 0; clock < clocks; ++clock)
    bounds.emplace_back(-most[clock][0], most[0][clock]);
  return bounds;
}

}  // namespace traceloom::oracle
