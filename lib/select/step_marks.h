// StepMarks: the begins of a file's training steps, found in its events.
//
//   StepMarks marks;
//   for (each event) marks.add(event, timing.start_ns, timing.duration_ns);
//   for (const StepMark& mark : marks.list(file_rank)) ...
//
// torch marks a step by a span ProfilerStep#N (its copies on GPU rows do not count, because they
// begin later). Composer writes the number of the batch into the args of its events, {"epoch": 0,
// "batch": 3}: a step begins with the first event of its batch, mostly the wait for its data.
//
// The args of an X that a merge made are those of its end, where Composer may have counted on. So
// long spans use the first event/train_batch inside them. A span marked as never closed has the
// args of its begin.
#pragma once

#include "event/event.h"
#include "identity/ranks/ranks.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

enum class StepSource : std::uint8_t { torch, composer };

struct StepMark {
  StepSource source;
  std::int64_t number;
  std::int64_t rank;
  std::int64_t begin_ns;
};

// Memory holds the steps, and the merged spans of Composer around them. Not thread-safe.
class StepMarks {
 public:
  void add(const Event& event, std::int64_t start_ns, std::int64_t duration_ns);
  // Appends the marks of a later part of the same file.
  void append(const StepMarks& later);
  // Returns one mark for each rank and number. `file` gives the ranks; it is known at the end of
  // the file.
  std::vector<StepMark> list(const FileRank& file) const;
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(begins_, trains_, long_spans_); }

 private:
  struct Thread {
    std::string pid;  // canonical_id()
    std::string tid;
    auto operator<=>(const Thread&) const = default;
  };
  using Trains = std::map<std::int64_t, std::int64_t>;  // time -> batch
  struct LongSpan {
    Thread thread;
    std::int64_t number;
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  static Thread thread_of(const Event& event);
  void add_batch(const Event& event, std::int64_t batch, std::int64_t start_ns,
                 std::int64_t duration_ns);

  // The begin of each step.
  std::map<std::tuple<StepSource, Thread, std::int64_t>, std::int64_t> begins_;
  std::map<Thread, Trains> trains_;
  std::vector<LongSpan> long_spans_;
};

}  // namespace traceloom
