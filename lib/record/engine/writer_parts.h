// WriterParts: what the parts of a writer have in common.
#pragma once

#include "record/engine/handler_list.h"
#include "record/engine/status_board.h"
#include "record/engine/writer_clock.h"
#include "record/journal/journal.h"
#include "record/session.h"

#include <cstdint>

namespace traceloom::record {

// The parts hold references: what they refer to must outlive them.
struct WriterParts {
  const Options& options;
  StatusBoard& status;
  WriterClock& clock;
  HandlerList& handlers;
  Journal* journal = nullptr;  // may be null
  std::uint32_t main_tid = 0;
  std::uint64_t first_ticks = 0;  // start of the session
};

}  // namespace traceloom::record
