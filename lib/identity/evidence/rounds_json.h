// read_rounds: reads the rounds of barriers from JSON. Our recorder writes them for a cycle in the
// args of clock_sync_rounds, and a merge in its record of the cycle.
//
//   const JsonDocument args(R"({"enter":[0.1,0.2],"exit":[0.15,0.26]})");
//   read_rounds(args.root())   // {{100, 200}, {150, 260}}
//
// Times are microseconds, as in a trace.
#pragma once

#include "clock/sync_rounds.h"
#include "json/json_document.h"

#include <optional>

namespace traceloom {

// Returns nullopt if `object` holds no lists of usable times, or impossible
// rounds.
std::optional<SyncRounds> read_rounds(JsonValue object);

}  // namespace traceloom
