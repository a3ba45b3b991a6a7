// CoarseReplay: a coarse time line as a network of operations that wait for each other, in which a
// step can be run again with other durations.
//
//   const SlowdownFigures figures = measure_slowdowns(line, path, threads);
//   figures.slowdown()                                       // 1.18: 18 % over the ideal step
//
// The rules, which docs/commands/what-if.md lists, are found once, in the first replica and step.
// An operation ends a duration after the last one that it waits for. Those of a group (the two ends
// of a message, the members of a collective) begin together.
#pragma once

#include "analysis/coarse/time_line.h"
#include "analysis/numbers.h"
#include "base/by_enum.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

class CoarseReplay {
 public:
  // Keeps a reference to the line. Throws Error if a message has one end only, or if operations
  // wait for each other in a circle.
  CoarseReplay(const TimeLine& line, const std::string& path);

  // Returns the time of each step. `is_recorded` has a flag for each replica and operation: with it
  // the recorded duration counts, without it the ideal one of its kind.
  std::vector<std::int64_t> run(const std::vector<char>& is_recorded) const;

  // Returns the time that an operation of the kind takes if nothing slows it down: the mean of
  // computing, the median of communication, over all steps, replicas and stages.
  std::int64_t ideal_ns(OperationKind kind) const { return ideal_ns_[kind]; }

 private:
  // Operations that begin together: in one replica, or in all of them.
  struct Unit {
    std::vector<std::uint32_t> members;
    bool is_of_all_replicas = false;
  };

  const TimeLine& line_;
  ByEnum<OperationKind, std::int64_t> ideal_ns_;
  std::vector<std::vector<std::uint32_t>> waits_for_;  // by operation
  std::vector<Unit> units_;                            // each after those that it waits for
};

// A set of operations: a kind, a stage, a replica, a rank.
struct SlowdownPart {
  // The ideal step with the recorded durations of these operations, as a multiple of it.
  double slowdown = 1;
  std::int64_t gain_ns = 0;  // by how much the mean step is shorter if they alone are ideal
};

struct CoarseRank : SlowdownPart {
  std::int64_t rank = 0;
  std::size_t stage = 0;
  std::size_t replica = 0;
  double score = 1;         // the smaller of the slowdowns of its stage and its replica
  bool is_slowest = false;  // one of the 3 % of ranks with the highest scores
};

struct SlowdownFigures {
  std::int64_t step_ns = 0;                                  // mean of the replayed steps
  std::int64_t ideal_ns = 0;                                 // mean with the ideal durations
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // replayed and ideal time
  std::vector<std::pair<std::string, SlowdownPart>> kinds;   // send and receive are one
  std::vector<SlowdownPart> stages;
  std::vector<SlowdownPart> replicas;
  std::vector<CoarseRank> ranks;     // the ten, or 3 %, with the highest scores, the highest first
  std::int64_t slowest_gain_ns = 0;  // if all the slowest ranks are ideal

  double slowdown() const { return ratio(step_ns, ideal_ns); }
  // Returns the part of the time over the ideal step that a gain takes away; nullopt if there is
  // none.
  std::optional<double> recovered(std::int64_t gain_ns) const;
};

// The path is named in Errors.
SlowdownFigures measure_slowdowns(const TimeLine& line, const std::string& path, unsigned threads);

}  // namespace traceloom
