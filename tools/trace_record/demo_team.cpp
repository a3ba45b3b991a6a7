#include "trace_record/demo_team.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>

namespace traceloom {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

}  // namespace

DemoTeam::DemoTeam(std::size_t ranks, std::size_t values) : ranks_(ranks), values_(values) {
  constexpr std::size_t kHead = (sizeof(pthread_barrier_t) + kLine - 1) / kLine * kLine;
  bytes_ = kHead + (ranks + 1) * values * sizeof(float);
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw system_error("shared memory of the ranks", errno);
  barrier_ = static_cast<pthread_barrier_t*>(memory_);
  parts_ = reinterpret_cast<float*>(static_cast<char*>(memory_) + kHead);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int error = pthread_barrier_init(barrier_, &attributes, static_cast<unsigned>(ranks));
  pthread_barrierattr_destroy(&attributes);
  if (error != 0) {
    munmap(memory_, bytes_);
    throw system_error("barrier of the ranks", error);
  }
}

// The barrier is not destroyed: pthread_barrier_destroy() waits for ranks in it, even killed ones.
DemoTeam::~DemoTeam() {
  munmap(memory_, bytes_);
}

void DemoTeam::barrier() {
  pthread_barrier_wait(barrier_);
}

// Each rank adds up a share of the values of all ranks. It adds in the order of ranks, so that the
// sum does not depend on which rank comes first.
void DemoTeam::all_reduce(std::size_t rank, std::span<float> values) {
  std::copy(values.begin(), values.end(), part_of(rank));
  barrier();
  const std::size_t share = (values.size() + ranks_ - 1) / ranks_;
  const std::size_t begin = std::min(rank * share, values.size());
  const std::size_t end = std::min(begin + share, values.size());
  float* const mean = part_of(ranks_);
  for (std::size_t i = begin; i < end; ++i) {
    float sum = 0;
    for (std::size_t other = 0; other < ranks_; ++other) sum += part_of(other)[i];
    mean[i] = sum / static_cast<float>(ranks_);
  }
  // After this barrier all have read the parts, so the next call may overwrite them.
  barrier();
  std::copy(mean, mean + values.size(), values.begin());
}

}  // namespace traceloom
