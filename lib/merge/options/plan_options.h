// PlanOptions: how a merge is to lay out times, rows and events.
#pragma once

#include "clock/alignment_words.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// What a process of the merged trace is.
enum class PidLayout : std::uint8_t {
  rank,   // pid = rank; GPUs, workers and the rest are rows of it
  split,  // every source process is a group of rows of its own, labelled with its rank
};

// What time 0 of the output is.
enum class OriginKind : std::uint8_t {
  first_event,  // the earliest event of all, floored to a whole microsecond
  keep,         // that of the inputs: with absolute clocks, Unix time
  given,        // PlanOptions::origin_ns
};

struct PlanOptions {
  bool sort_by_time = false;  // all events, over all files
  PidLayout pids = PidLayout::rank;
  // Categories of flow events whose ids mean the same in all files: arrows from rank to rank, as of
  // remote calls. A viewer binds both ends if they have the same category, name and id.
  std::vector<std::string> shared_flows = {};
  ClockOptions clock = {};
  OriginKind origin = OriginKind::first_event;
  std::int64_t origin_ns = 0;
};

}  // namespace traceloom
