// RecorderClock: what files of our recorder say about their clock beside Composer's two numbers,
// gathered event by event.
//
//   RecorderClock clock;
//   clock.add(event, problems);                  // any metadata event
//   clock.append(clock_of_the_next_chunk);
//   std::optional<MachineClock> machine = clock.machine();
#pragma once

#include "base/problems.h"
#include "clock/sync_rounds.h"
#include "event/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

class RecorderClock {
 public:
  // Of metadata events whose name (without its quotes) is one of ours: the first of each kind
  // counts; of clock_pairs all. bad_rounds is counted for rounds that are no lists of times, or of
  // which one is left before it is entered.
  void add(std::string_view name, const Event& event, ProblemCounts& problems);
  void append(const RecorderClock& later);

  // In the time of the file.
  const CycleRounds& rounds() const { return rounds_; }
  // From all moments at which the file was compared with its machine's clock, and what the recorder
  // says of its times between them. nullopt when it was not, or the boot has no id.
  std::optional<MachineClock> machine() const;
  // When the recorder began the file, in its time: after all that it wrote to the one before.
  // Events may be earlier that it knew of too late for that.
  std::optional<std::int64_t> opened_ns() const { return opened_ns_; }

 private:
  void add_rounds(const Event& event, ProblemCounts& problems);
  void add_pair(const Event& event);
  void add_range(const std::optional<ClockRange>& ahead);

  CycleRounds rounds_;
  std::string machine_;
  std::optional<ClockRange> ahead_;
  std::optional<std::int64_t> opened_ns_;
  std::int64_t error_ns_ = 0;
};

}  // namespace traceloom
