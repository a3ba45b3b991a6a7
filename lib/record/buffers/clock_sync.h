// meet(), sync_value(): stamp the times at which ranks meet at a barrier, so that their files can
// be merged.
//
//   SyncRounds rounds = meet(options.barrier, 16);
//   sync_value(rounds, line)     // Composer's two numbers
//
// Nobody leaves a barrier before everybody has entered it. So in each round the enter of any rank
// comes before the exit of any other, and all rounds together give the offset of two clocks with a
// bound that holds: max(enter_r - exit_0) <= clock_r - clock_0 <= min(exit_r - enter_0).
#pragma once

#include "record/buffers/clock.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace traceloom::record {

// Ticks at which this rank entered and left each barrier.
struct SyncRounds {
  std::vector<std::uint64_t> enter;
  std::vector<std::uint64_t> exit;
};

SyncRounds meet(const std::function<void()>& barrier, unsigned rounds);

// One moment that all ranks stamp within the bound, in the form that Composer's merger wants: the
// mean of the middles of all rounds but the first, in which ranks wait for the last one. The
// numbers are whole microseconds.
struct SyncValue {
  std::int64_t timestamp_us = 0;
  std::int64_t error_bound_us = 0;
};
SyncValue sync_value(const SyncRounds& rounds, const TimeLine& line);

// The functions return the args of metadata events, as JSON objects.
std::string rounds_json(const SyncRounds& rounds, const TimeLine& line, const char* group);
std::string pair_json(const ClockPair& pair, const char* when);
std::string host_json();  // name, boot_id, time namespace, the process's id
std::string ntp_json();   // what the system knows of its own clock

// Returns the id of this boot of the machine; processes with equal ids share CLOCK_MONOTONIC. Empty
// if unknown.
std::string boot_id();

}  // namespace traceloom::record
