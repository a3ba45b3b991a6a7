// StepMarks: when the training steps of a file begin, from what its events say.
//
//   StepMarks marks;
//   for (each event) marks.add(event, timing.start_ns);
//   for (const StepMark& mark : marks.list()) ...
//
// torch marks a step by a span ProfilerStep#N (its copies on GPU rows do not count: they begin
// later). Composer writes the number of the batch into the args of its events, {"epoch": 0,
// "batch": 3}: a step begins with the first event of its batch, mostly the wait for its data.
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

// Memory: the steps. Not thread-safe.
class StepMarks {
 public:
  void add(const Event& event, std::int64_t start_ns);
  // What a later part of the same file says.
  void append(const StepMarks& later);
  bool empty() const { return begins_.empty(); }
  std::vector<StepMark> list() const;

 private:
  using Step = std::tuple<StepSource, std::string, std::int64_t>;
  void add(const Step& step, std::int64_t start_ns);

  std::map<Step, std::int64_t> begins_;
};

}  // namespace traceloom
