// DemoTeam is what the processes of the demo share: a barrier, and a sum over all of them.
//
//   DemoTeam team(4, model.gradients().size());   // before they are forked
//   team.barrier();                                // in each of them
//   team.all_reduce(rank, model.gradients());      // the mean of all, the same bits on every rank
#pragma once

#include <cstddef>
#include <pthread.h>
#include <span>

namespace traceloom {

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

}  // namespace traceloom
