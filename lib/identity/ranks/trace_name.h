// Finds the rank and the profiling cycle in the name of a trace file.
//
//   rank_in_name("traces/ep1-ba42-rank3.json.gz")     // 3
//   cycle_of_name("traces/ep1-ba42-rank3.json.gz")    // "ep1-ba42"
//
// Both functions use only the last part of the path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace traceloom {

// Ranks become pids, which viewers store in 32 bits.
inline constexpr std::int64_t kMaxRank = 2'147'483'647;

// Returns the number after the last "rank", "rank-" or "rank_" that a number of at most kMaxRank
// follows: "ep1-ba42-rank3.json", "rank-0.Apr_03.pt.trace.json". Returns nullopt if there is none.
std::optional<std::int64_t> rank_in_name(const std::string& path);

// Returns the name without its rank (as above, otherwise "worker3"), without its endings (.gz,
// .json, .trace, .pt, .log) and without time stamps (10 digits or more, which differ between the
// ranks of one cycle); may be empty:
//   "ep0-ba12-rank3.json.gz"                             "ep0-ba12"
//   "rank0.4.pt.trace.json"                              "4"
//   "worker0_step_12.1694128201545.pt.trace.json.gz"     "step_12"
//   "rank3.json"                                         ""
std::string cycle_of_name(const std::string& path);

}  // namespace traceloom
