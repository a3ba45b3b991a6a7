// WriterClock: makes nanoseconds of ticks. It takes pairs of both, and checks whether they still
// fit together.
//
//   WriterClock clock(start, status, journal);
//   clock.keep_time();          // often
//   clock.line().ns(ticks)
#pragma once

#include "record/buffers/clock.h"
#include "record/engine/status_board.h"
#include "record/journal/journal.h"

namespace traceloom::record {

// Only the writer's thread may use it.
class WriterClock {
 public:
  // `journal` may be null.
  WriterClock(const ClockPair& start, StatusBoard& status, Journal* journal)
      : status_(status), journal_(journal), line_(start) {}

  // Adds a pair a second. The first call waits until the speed of the counter is known.
  void keep_time();
  // Returns a pair that has been checked.
  ClockPair read();
  const TimeLine& line() const { return line_; }

 private:
  void check(const ClockPair& pair);

  StatusBoard& status_;
  Journal* journal_;
  TimeLine line_;
  bool is_told_ = false;
};

}  // namespace traceloom::record
