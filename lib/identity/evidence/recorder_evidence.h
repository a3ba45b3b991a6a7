// The evidence that Composer and our recorder write into their files: stamps, clocks, lost events.
#pragma once

#include "base/problems.h"
#include "clock/clock_syncs.h"
#include "event/event.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace traceloom {

// stamps_of: the stamps that Composer puts on each file of a rank, and that its merger keeps: the
// rank, the training thread, the clock sync of the cycle. Our recorder does the same.
//
//   for (const Stamp& stamp : stamps_of(evidence)) by_stamp.emplace(stamp, file);

struct FileEvidence;

struct Stamp {
  std::int64_t rank = 0;
  std::string tid;                      // as in Mark::tid
  std::optional<std::int64_t> sync_us;  // absent if no cycle begins in the file

  auto operator<=>(const Stamp&) const = default;
};

// Returns all stamps, or those of one rank; at most as many as DistinctMarks keeps marks.
std::set<Stamp> stamps_of(const FileEvidence& evidence,
                          std::optional<std::int64_t> rank = std::nullopt);

// RecorderClock: the clock evidence in files of our recorder, besides the two numbers that Composer
// also writes; gathered event by event.
//
//   RecorderClock clock;
//   clock.add(event, problems);                  // any metadata event
//   clock.append(clock_of_the_next_chunk);
//   std::optional<MachineClock> machine = clock.machine();

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

  auto wired() { return std::tie(rounds_, machine_, ahead_, opened_ns_, error_ns_); }

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

// add_recorder_losses: counts the events that a file of our recorder lacks because of a full disk
// or a full pool.
//
//   if (name == "recorder") add_recorder_losses(event, problems);

// Counts events_lost, events_dropped, events_unnamed and events_damaged of the metadata event
// `recorder`. Events that a flight recorder has overwritten are no loss: it is meant to keep only
// the last ones.
void add_recorder_losses(const Event& event, ProblemCounts& problems);
// True if add_recorder_losses() counts anything for the event.
bool reports_losses(const Event& event);

}  // namespace traceloom
