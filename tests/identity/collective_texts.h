// Files of ranks with collectives, for tests of clocks.
#pragma once

#include "identity/evidence/event_tally.h"
#include "identity/evidence/file_reading.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace traceloom {

// A kernel of NCCL; `more` are members of its args.
inline std::string kernel(std::int64_t ts_us, std::int64_t dur_us, std::string_view more,
                          std::string_view name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL") {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},"args":{{{}}}}},)",
      name, ts_us, dur_us, more);
}

inline std::string all_reduce(std::int64_t ts_us, std::int64_t dur_us, std::int64_t seq,
                              std::string_view group = "0") {
  return kernel(ts_us, dur_us,
                fmt::format(R"("Collective name":"allreduce","In msg nelems":7,"dtype":"Float",)"
                            R"("Process Group Name":"{}","Process Group Description":"default_pg",)"
                            R"("Process Group Ranks":"[0, 1, 2]","Seq":{})",
                            group, seq));
}

// As gloo writes it: without its group.
inline std::string gloo_all_reduce(std::int64_t ts_us, std::int64_t dur_us,
                                   std::string_view dims = "[[3]]") {
  return fmt::format(
      R"({{"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":5,"tid":6,)"
      R"("ts":{},"dur":{},"args":{{"Input Dims":{}}}}},)",
      ts_us, dur_us, dims);
}

// Returns the evidence that a survey gathers from `text`, whose events end with commas, and their
// starts if `starts` is given.
inline FileEvidence collectives_of(std::string text, StartTimes* starts = nullptr) {
  if (!text.empty()) text.pop_back();
  text += ']';
  FileEvidence chunk;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  while (const Event* event = scanner.next()) {
    const EventTiming timing = time_event(*event, problems);
    chunk.add_begin(*event, timing);
    if (starts == nullptr) continue;
    starts->add(timing.start_ns);
    starts->add_end(timing.start_ns + timing.duration_ns);
  }
  REQUIRE(problems.empty());
  FileEvidence whole;
  whole.append(chunk);
  return whole;
}

}  // namespace traceloom
