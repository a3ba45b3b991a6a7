// RecorderClock: the clock evidence in files of our recorder, besides the two numbers that Composer
// also writes; gathered event by event.
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
  // Adds a metadata event whose name (without its quotes) is one of ours. The first event of each
  // kind counts, but all clock_pairs do. bad_rounds is counted for rounds that are no lists of
  // times, or in which a round is left before it is entered.
  void add(std::string_view name, const Event& event, ProblemCounts& problems);
  void append(const RecorderClock& later);

  // The rounds in the time of the file.
  const CycleRounds& rounds() const { return rounds_; }
  // Uses all moments at which the file was compared with its machine's clock, and the recorder's
  // error between them. Returns nullopt if there are none, or if the boot has no id.
  std::optional<MachineClock> machine() const;
  // The time at which the recorder began the file, on its own clock, after it had written
  // everything to the previous file. Events may be earlier if the recorder learned of them too late
  // for the previous file.
  std::optional<std::int64_t> opened_ns() const { return opened_ns_; }

  template <typename Wire>
  void wire(Wire& wire) {
    wire(rounds_, machine_, ahead_, opened_ns_, error_ns_);
  }

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
