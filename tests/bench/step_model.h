// What one training step of one rank does, in nanoseconds: the content of a generated trace,
// without its text.
//
//   StepModel model({.seed = 1, .rank = 3});
//   const Step& step = model.step(17);
#pragma once

#include "bench/names.h"

#include <cstdint>
#include <vector>

namespace traceloom::bench {

// An operator that runs on the host and launches one kernel.
struct Call {
  bool backward;       // on the autograd thread
  std::size_t op;      // index into Names::operators and ::backwards
  std::size_t kernel;  // index into Names::kernels
  std::int64_t start;  // of the operator; it holds an inner operator and that the launch
  std::int64_t duration;
  std::int64_t launch;
  std::int64_t launch_duration;
  std::int64_t kernel_start;
  std::int64_t kernel_duration;
  std::int64_t id;      // External id and correlation
  std::uint64_t shape;  // random bits for the arguments
};

// A Python frame or module around some calls.
struct Frame {
  bool is_module;
  std::size_t name;  // index into Names::modules or ::frames
  std::int64_t start;
  std::int64_t duration;
  std::int64_t id;
  std::int64_t parent;
};

struct Step {
  std::int64_t number;
  std::int64_t start;
  std::int64_t duration;
  std::int64_t loader_duration;      // the wait for data at the start of the step
  std::int64_t collective_start;     // the rank enters the all-reduce when it is ready ...
  std::int64_t collective_duration;  // ... and all ranks leave it together
  std::int64_t optimizer_start;
  std::vector<Call> calls;
  std::vector<Frame> frames;
};

struct StepModelOptions {
  std::uint64_t seed = 1;
  std::int64_t rank = 0;
};

// A step depends on the options and its number alone. Ranks do the same operations; how long they
// take differs a little.
class StepModel {
 public:
  StepModel(const StepModelOptions& options, const Names& names);

  // Valid until the next call.
  const Step& step(std::int64_t number);

 private:
  void add_layer(std::int64_t layer, bool backward);
  void add_call(bool backward);
  void add_frame(bool is_module, std::int64_t start, std::int64_t duration);
  std::uint64_t shared_random();         // the same on all ranks
  std::int64_t jitter(std::int64_t ns);  // this rank's variation of a duration

  StepModelOptions options_;
  const Names& names_;
  Step step_;
  std::int64_t host_now_ = 0;
  std::int64_t device_free_ = 0;
  std::int64_t next_id_ = 0;
  std::int64_t innermost_frame_ = 0;
  std::uint64_t shared_state_ = 0;
  std::uint64_t own_state_ = 0;
};

}  // namespace traceloom::bench
