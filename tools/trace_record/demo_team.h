// The processes of the demo: what they share, and by how much their clocks differ.
#pragma once

#include "trace_record/trace_options.h"

#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>

namespace traceloom {

// DemoTeam is what the processes of the demo share: a barrier, and a sum over all of them.
//
//   DemoTeam team(4, model.gradients().size());   // before they are forked
//   team.barrier();                                // in each of them
//   team.all_reduce(rank, model.gradients());      // the mean of all, the same bits on every rank

class DemoTeam {
 public:
  // Allocates `values` floats for each rank. Throws Error if there is no memory.
  DemoTeam(std::size_t ranks, std::size_t values);
  ~DemoTeam();
  DemoTeam(const DemoTeam&) = delete;
  DemoTeam& operator=(const DemoTeam&) = delete;

  // Returns when all ranks have called it. It sleeps, since there may be more ranks than cores.
  void barrier();
  // All ranks have to call it with the same number of values.
  void all_reduce(std::size_t rank, std::span<float> values);

 private:
  float* part_of(std::size_t rank) { return parts_ + rank * values_; }

  std::size_t ranks_;
  std::size_t values_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  pthread_barrier_t* barrier_ = nullptr;
  float* parts_ = nullptr;  // the values of each rank, then their mean
};

// Makes the clocks of the demo's ranks differ like those of different machines. The ranks really
// share one clock, so the result of a merge can be compared with the truth.

// A clock that shows t + offset_ns + drift_ppm / 10^6 * (t - since_ns) at the true time t.
struct ClockSkew {
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;
  std::int64_t since_ns = 0;
  std::string machine;  // a boot id, so that each rank counts as a machine of its own

  std::int64_t shown(std::int64_t true_ns) const;
};

ClockSkew skew_of(const DemoOptions& options, std::int64_t rank);

// Returns a line of a trace of our recorder with all its times as that clock shows them.
std::string skew_line(std::string_view line, const ClockSkew& skew);
// Rewrites the whole file, which is plain text. Throws Error.
void skew_trace(const std::string& path, const ClockSkew& skew);

}  // namespace traceloom
