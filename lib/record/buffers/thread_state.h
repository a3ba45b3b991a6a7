// ThreadState: what the recorder keeps of a thread beside its chunk.
#pragma once

#include "record/slots.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::record {

struct ThreadState {
  std::uint32_t tid = 0;
  std::uint64_t session = 0;           // in which it had a chunk
  bool is_inside = false;              // a signal handler that records is not let in as well
  std::vector<detail::OpenSpan> open;  // started by Marker::start(), also what is not recorded
};

// Of the calling thread, made when there is none; nullptr without memory. Freed when the thread
// ends, and made anew for what records even later.
ThreadState* this_thread_state() noexcept;
// In the child of a fork(): its only thread has another id.
void forget_thread_after_fork() noexcept;

}  // namespace traceloom::record
