// ThreadState: what the recorder keeps of a thread besides its chunk.
#pragma once

#include "record/slots.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::record {

struct ThreadState {
  std::uint32_t tid = 0;
  std::uint64_t session = 0;           // the one in which it had a chunk
  bool is_inside = false;              // keeps out a signal handler that records meanwhile
  std::vector<detail::OpenSpan> open;  // started by Marker::start(), also unrecorded ones
};

// Returns the state of the calling thread, and makes it if there is none; nullptr without memory.
// It is freed when the thread ends, and made anew for what records even later.
ThreadState* this_thread_state() noexcept;
// Called in the child of a fork(): its only thread has another id.
void forget_thread_after_fork() noexcept;

}  // namespace traceloom::record
