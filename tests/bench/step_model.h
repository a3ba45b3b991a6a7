// The work of one training step of one rank, in nanoseconds: the content of a generated trace,
// without its text.
//
//   StepModel model({.seed = 1, .rank = 3}, names);
//   const Step& step = model.step(17);
#pragma once

#include "bench/layer_program.h"
#include "bench/names.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::bench {

// An operator on the host.
struct Call {
  const Operation* operation;
  bool backward;  // true on the autograd thread
  std::int64_t start;
  std::int64_t duration;
  std::int64_t id;        // External id
  std::int64_t sequence;  // the same of a forward call and its node of autograd; 0: neither
  std::int64_t layer;
};

// A Python function or module around some calls.
struct Frame {
  const std::string* name = nullptr;  // name of the frame; if null, it is `module`, number
                                      // `module_id`
  std::string_view module = {};
  std::int64_t module_id = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t id = 0;
  std::int64_t parent = 0;
};

// The allocator gives memory, or takes it back (`bytes` is negative).
struct Allocation {
  bool backward;
  std::int64_t time;
  std::int64_t bytes;
  std::int64_t address;
  std::int64_t total;
};

// A call of the runtime, and what it starts on the device.
struct Launch {
  Kernel kernel;
  const std::string* name;
  bool backward;
  std::int64_t start;
  std::int64_t duration;
  std::int64_t device_start;
  std::int64_t device_duration;
  std::int64_t correlation;
  std::int64_t external_id;
  std::uint64_t shape;  // random bits for its arguments, the same in every step
};

struct Step {
  std::int64_t number;
  std::int64_t start;
  std::int64_t duration;
  std::int64_t loader_duration;      // the wait for data at the start of the step
  std::int64_t collective_start;     // the rank enters the all-reduce when it is ready ...
  std::int64_t collective_duration;  // ... and all ranks leave it together
  std::int64_t optimizer_start;
  std::int64_t sequence_length;  // length of the step's samples in tokens; the shapes of most
                                 // tensors depend on it
  std::vector<Call> calls;
  std::vector<Frame> frames;
  std::vector<Allocation> allocations;
  std::vector<Launch> launches;
};

struct StepModelOptions {
  std::uint64_t seed = 1;
  std::int64_t rank = 0;
  std::int64_t layers = 12;
  bool training = true;  // false for inference, which has no backward pass
};

// A step depends on the options and its number alone. Ranks do the same operations; how long they
// take differs a little.
class StepModel {
 public:
  StepModel(const StepModelOptions& options, const Names& names);

  // Valid until the next call.
  const Step& step(std::int64_t number);

 private:
  void add_forward(std::int64_t layer);
  void add_backward(std::int64_t layer);
  void add_optimizer();
  void add_operations(std::span<const Operation> operations, std::int64_t layer, bool backward);
  std::int64_t sequence_of(const Operation& operation, std::int64_t id);
  void end_calls(int depth);
  void start_device_work(const Call& call);
  void add_launch(Kernel kernel, const Call& call);
  void add_allocation(const Call& call);
  void begin_frame(Frame frame);
  void end_frame();
  void add_leaf(const std::string& name, std::int64_t duration);
  std::uint64_t shared_random();         // the same on all ranks
  std::int64_t jitter(std::int64_t ns);  // this rank's variation of a duration

  StepModelOptions options_;
  const Names& names_;
  Step step_;
  std::vector<std::size_t> open_calls_;
  std::vector<std::size_t> open_frames_;
  std::vector<std::int64_t> forward_calls_;  // calls whose nodes of autograd have not run yet
  std::int64_t host_now_ = 0;
  std::int64_t device_free_ = 0;
  std::int64_t next_id_ = 0;
  std::int64_t allocated_ = 0;
  std::uint64_t shared_state_ = 0;
  std::uint64_t own_state_ = 0;
};

}  // namespace traceloom::bench
