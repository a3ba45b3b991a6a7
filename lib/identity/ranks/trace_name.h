// What the name of a trace file tells: its rank and its profiling cycle.
//
//   rank_in_name("traces/ep1-ba42-rank3.json.gz")     // 3
//   cycle_of_name("traces/ep1-ba42-rank3.json.gz")    // "ep1-ba42"
//
// Both look at the last part of the path only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace traceloom {

// Ranks become pids, which viewers hold in 32 bits.
inline constexpr std::int64_t kMaxRank = 2'147'483'647;

// The number behind the last "rank", "rank-" or "rank_" that a number at most kMaxRank follows:
// "ep1-ba42-rank3.json", "rank-0.Apr_03.pt.trace.json"; nullopt when there is none.
std::optional<std::int64_t> rank_in_name(const std::string& path);

// The name without what tells the rank (as above, else "worker3"), without its endings (.gz, .json,
// .trace, .pt, .log) and without time stamps (10 digits or more, which differ between the ranks of
// one cycle); may be empty:
//   "ep0-ba12-rank3.json.gz"                             "ep0-ba12"
//   "rank0.4.pt.trace.json"                              "4"
//   "worker0_step_12.1694128201545.pt.trace.json.gz"     "step_12"
//   "rank3.json"                                         ""
std::string cycle_of_name(const std::string& path);

}  // namespace traceloom
