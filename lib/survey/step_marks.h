// StepMarks: when the training steps of a file begin, from what its events say.
//
//   StepMarks marks;
//   for (each event) marks.add(event, timing.start_ns, timing.duration_ns);
//   for (const StepMark& mark : marks.list()) ...
//
// torch marks a step by a span ProfilerStep#N (its copies on GPU rows do not count: they begin
// later). Composer writes the number of the batch into the args of its events, {"epoch": 0,
// "batch": 3}: a step begins with the first event of its batch, mostly the wait for its data. Of an
// X, which a merge has made, the args are those of its end, where Composer may count one more:
// spans that may last so long go by the first event/train_batch inside of them. A span that is
// marked as never closed has the args of its begin.
#pragma once

#include "event/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

enum class StepSource : std::uint8_t { torch, composer };

struct StepMark {
  StepSource source;
  std::int64_t number;
  std::string pid;  // canonical_id(): in a merged file each pid is a rank
  std::int64_t begin_ns;
};

// Memory: the steps, and the merged spans of Composer that are around them. Not thread-safe.
class StepMarks {
 public:
  void add(const Event& event, std::int64_t start_ns, std::int64_t duration_ns);
  // What a later part of the same file says.
  void append(const StepMarks& later);
  std::vector<StepMark> list() const;

 private:
  // Source, pid, number -> when it begins.
  using Begins = std::map<std::tuple<StepSource, std::string, std::int64_t>, std::int64_t>;
  struct LongSpan {
    std::string pid;
    std::int64_t number;
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  void add_batch(const Event& event, std::int64_t batch, std::int64_t start_ns,
                 std::int64_t duration_ns);
  std::int64_t batch_of(const LongSpan& span) const;

  Begins begins_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> trains_;  // pid, time -> batch
  std::vector<LongSpan> long_spans_;
};

}  // namespace traceloom
