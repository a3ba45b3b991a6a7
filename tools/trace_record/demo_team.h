// DemoTeam: what the processes of the demo share: a barrier, and a sum over all of them.
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
  // Room for `values` floats a rank. Throws Error when there is no memory for that.
  DemoTeam(std::size_t ranks, std::size_t values);
  ~DemoTeam();
  DemoTeam(const DemoTeam&) = delete;
  DemoTeam& operator=(const DemoTeam&) = delete;

  // Returns when all ranks are in it. Sleeps rather than spins: there may be more ranks than cores.
  void barrier();
  // All ranks have to call it with as many values.
  void all_reduce(std::size_t rank, std::span<float> values);

 private:
  float* part_of(std::size_t rank) { return parts_ + rank * values_; }

  std::size_t ranks_;
  std::size_t values_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  pthread_barrier_t* barrier_ = nullptr;
  float* parts_ = nullptr;  // of each rank, then the mean
};

}  // namespace traceloom
