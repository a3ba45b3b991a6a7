// read_rounds: reads the rounds of barriers from JSON. Our recorder writes them for a cycle in the
// args of clock_sync_rounds, and a merge in its record of the cycle.
//
//   read_rounds(R"({"enter":[0.1,0.2],"exit":[0.15,0.26]})")   // {{100, 200}, {150, 260}}
//
// Times are microseconds, as in a trace.
#pragma once

#include "clock/sync_rounds.h"

#include <optional>
#include <string_view>

namespace traceloom {

// `object` is strict JSON. Returns nullopt if it holds no lists of usable times, or impossible
// rounds.
std::optional<SyncRounds> read_rounds(std::string_view object);

}  // namespace traceloom
