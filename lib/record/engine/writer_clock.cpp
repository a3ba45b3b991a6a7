#include "record/engine/writer_clock.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

namespace traceloom::record {
namespace {

constexpr std::int64_t kBetweenPairsNs = 1'000'000'000;

}  // namespace

void WriterClock::keep_time() {
  ClockPair pair = read_clock_pair();
  while (!line_.is_ready()) {
    const std::int64_t passed_ns = pair.monotonic_ns - line_.start().monotonic_ns;
    if (passed_ns < kLeastBaselineNs)
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLeastBaselineNs - passed_ns));
    pair = read_clock_pair();
    line_.add(pair);
    if (line_.is_ready() && journal_ != nullptr) journal_->add_segment(line_.last_segment());
  }
  if (pair.monotonic_ns - line_.last().monotonic_ns < kBetweenPairsNs) return;
  check(pair);
  line_.add(pair);
  if (journal_ != nullptr) journal_->add_segment(line_.last_segment());
}

ClockPair WriterClock::read() {
  const ClockPair pair = read_clock_pair();
  check(pair);
  return pair;
}

// Called at both ends of a cycle, and every second in between: a machine that was moved while it
// ran may have another counter.
void WriterClock::check(const ClockPair& pair) {
  constexpr std::int64_t kMostErrorNs = 1'000'000;
  constexpr std::int64_t kMostDrift = 1000;  // one part in so many, while the thread did not look
  const std::int64_t error_ns = std::abs(line_.check(pair));
  const std::int64_t passed_ns = pair.monotonic_ns - line_.last().monotonic_ns;
  if (error_ns <= kMostErrorNs + passed_ns / kMostDrift) return;
  distrust_counter();
  if (std::exchange(is_told_, true)) return;
  status_.set_error(
      "the processor's counter was " + std::to_string(error_ns / 1000) +
      " us off CLOCK_MONOTONIC, and so may times of this trace be; further sessions of this "
      "process go by CLOCK_MONOTONIC");
}

}  // namespace traceloom::record
