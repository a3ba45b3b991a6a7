// Random valid traces, for comparing the fast code with the oracle. A seed always gives the same
// text.
//
//   for (std::uint64_t seed = 0; seed < 100; ++seed)
//     check(random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3)}));
#pragma once

#include <cstdint>
#include <string>

namespace traceloom {

enum class TraceStyle {
  composer,  // a list, one event a line, with global_rank and clock_sync_timestamp_us as metadata
  kineto,    // a pretty object with distributedInfo and baseTimeNanoseconds before or after the
             // events
  compact,   // an object on one line
};

struct RandomTraceOptions {
  std::uint64_t seed = 0;
  TraceStyle style = TraceStyle::composer;
  int events = 300;  // about
  std::int64_t rank = 0;
  bool broken_pairs = true;  // E without B, B without E, B/E pairs that cross
  bool never_ended = false;  // a few X have a dur beyond the range of time
  bool out_of_order = true;  // a few neighbours in the file change places
  bool rare_events = false;  // objects, profiles, memory dumps, stack frames, samples, thread
                             // clocks, the old async events, ids in id2
};

// All phases of everyday traces (X B E i C s f b e M); names with escapes, UTF-8 and brackets;
// nested args; ts of 0-3 decimals and rarely of 6; equal ts and spans of no length; pids and tids
// that are strings, negative or beyond 32 bits, and thread 7 also written "7".
std::string random_trace(const RandomTraceOptions& options);

// Replaces each `every`th place of `from`.
void replace_some(std::string& text, std::string_view from, std::string_view to, int every);

}  // namespace traceloom
