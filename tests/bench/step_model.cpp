#include "bench/step_model.h"

#include <algorithm>

namespace traceloom::bench {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
// time for the work of a layer in a step
constexpr std::int64_t kStepOfLayer = 2'000 * kMicrosecond;
constexpr std::int64_t kRestOfStep = 9'000 * kMicrosecond;
constexpr std::int64_t kIdsOfStep = 40'000;
constexpr std::uint64_t kLengths = 48;  // number of different lengths of samples

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

// One number of a stream (splitmix64).
std::uint64_t next(std::uint64_t& state) {
  return mix(state += 0x9E3779B97F4A7C15U);
}

// Random, but the same for an operation wherever and whenever it runs.
std::uint64_t hash_of(const Operation& operation, std::int64_t layer) {
  std::uint64_t hash = static_cast<std::uint64_t>(layer % 4);
  for (const char c : operation.name) hash = mix(hash ^ static_cast<std::uint64_t>(c));
  return mix(hash ^ operation.inputs.size());
}

const std::string& one_of(const std::vector<std::string>& names, std::uint64_t random) {
  return names[random % names.size()];
}

}  // namespace

StepModel::StepModel(const StepModelOptions& options, const Names& names)
    : options_(options), names_(names) {}

std::uint64_t StepModel::shared_random() {
  return next(shared_state_);
}

// 0.8 to 1.2 times `ns`.
std::int64_t StepModel::jitter(std::int64_t ns) {
  return ns * static_cast<std::int64_t>(800 + next(own_state_) % 400) / 1000;
}

const Step& StepModel::step(std::int64_t number) {
  shared_state_ = mix(options_.seed) + static_cast<std::uint64_t>(number);
  own_state_ = mix(shared_state_ ^ mix(static_cast<std::uint64_t>(options_.rank) + 1));
  next_id_ = number * kIdsOfStep + 1;
  allocated_ = 1'955'707'904;
  const std::int64_t pitch = options_.layers * kStepOfLayer + kRestOfStep;
  step_.calls.clear();
  step_.frames.clear();
  step_.allocations.clear();
  step_.launches.clear();
  step_.number = number;
  step_.start = number * pitch;
  step_.duration = pitch - 20 * kMicrosecond;
  step_.sequence_length = 512 + 17 * static_cast<std::int64_t>(shared_random() % kLengths);
  step_.loader_duration = jitter(900 * kMicrosecond);
  host_now_ = step_.start + step_.loader_duration + jitter(30 * kMicrosecond);
  device_free_ = host_now_;
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) add_forward(layer);
  for (std::int64_t layer = options_.layers; options_.training && layer-- > 0;) add_backward(layer);
  const std::int64_t collective_end = step_.start + pitch - 6'000 * kMicrosecond;
  step_.collective_start =
      std::min(std::max(device_free_, host_now_), collective_end - 500 * kMicrosecond);
  step_.collective_duration = collective_end - step_.collective_start;
  step_.optimizer_start = collective_end + 100 * kMicrosecond;
  host_now_ = device_free_ = step_.optimizer_start + 10 * kMicrosecond;
  add_operations(optimizer_operations(), 0, false);
  return step_;
}

// Every block lies inside frames of Python: the module, the three functions that lead to its
// forward(), and so on.
void StepModel::add_forward(std::int64_t layer) {
  const std::span<const Block> blocks = forward_blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t module_id =
        layer * static_cast<std::int64_t>(blocks.size()) + static_cast<std::int64_t>(i);
    begin_frame({.module = blocks[i].module, .module_id = module_id});
    begin_frame({.name = &names_.calls[3]});
    begin_frame({.name = &names_.calls[2]});
    add_leaf(one_of(names_.built_ins, i), 600);
    begin_frame(
        {.name = &one_of(names_.calls, 60 + 31 * i + static_cast<std::uint64_t>(7 * layer))});
    add_leaf(names_.calls[4], 400);
    add_operations(blocks[i].operations, layer, false);
    for (int frame = 0; frame < 4; ++frame) end_frame();
    host_now_ += jitter(2 * kMicrosecond);
  }
}

void StepModel::add_backward(std::int64_t layer) {
  for (const Block& block : backward_blocks()) add_operations(block.operations, layer, true);
}

void StepModel::add_operations(std::span<const Operation> operations, std::int64_t layer,
                               bool backward) {
  for (const Operation& operation : operations) {
    end_calls(operation.depth);
    const bool outermost = operation.depth == 0;
    if (outermost && !backward) {
      const std::uint64_t hash = hash_of(operation, layer);
      add_leaf(names_.calls[4], 350);
      add_leaf(one_of(names_.built_ins, hash >> 16), 300);
      begin_frame({.name = &one_of(names_.built_ins, hash)});
    }
    const std::int64_t id = next_id_++;
    step_.calls.push_back({.operation = &operation,
                           .backward = backward,
                           .start = host_now_,
                           .duration = 0,
                           .id = id,
                           .sequence = sequence_of(operation, id),
                           .layer = layer});
    open_calls_.push_back(step_.calls.size() - 1);
    host_now_ += jitter(700);
    start_device_work(step_.calls.back());
  }
  end_calls(0);
}

std::int64_t StepModel::sequence_of(const Operation& operation, std::int64_t id) {
  if (operation.autograd == Autograd::none || !options_.training) return 0;
  if (operation.autograd == Autograd::forward) forward_calls_.push_back(id);
  const std::int64_t sequence = forward_calls_.back();
  if (operation.autograd == Autograd::node) forward_calls_.pop_back();
  return sequence;
}

// Ends the open calls of that depth and deeper.
void StepModel::end_calls(int depth) {
  while (!open_calls_.empty()) {
    Call& call = step_.calls[open_calls_.back()];
    if (call.operation->depth < depth) return;
    host_now_ += jitter(500);
    call.duration = host_now_ - call.start;
    open_calls_.pop_back();
    if (call.operation->depth == 0 && !call.backward) end_frame();
  }
}

void StepModel::start_device_work(const Call& call) {
  const Kernel kernel = call.operation->kernel;
  if (call.operation->name.starts_with("aten::empty")) add_allocation(call);
  if (kernel == Kernel::none) return;
  add_allocation(call);
  if (kernel == Kernel::gemm) add_launch(Kernel::memset, call);
  add_launch(kernel, call);
}

void StepModel::add_launch(Kernel kernel, const Call& call) {
  const std::uint64_t hash = hash_of(*call.operation, call.layer);
  Launch launch;
  launch.kernel = kernel;
  launch.name = &one_of(names_.of(kernel), hash >> 8);
  launch.backward = call.backward;
  launch.start = host_now_;
  launch.duration = jitter(kernel == Kernel::gemm ? 4 * kMicrosecond : 3 * kMicrosecond);
  launch.device_start = std::max(launch.start + launch.duration + jitter(3 * kMicrosecond),
                                 device_free_ + jitter(800));
  const auto work_us = static_cast<std::int64_t>(2 + hash % (kernel == Kernel::gemm ? 90 : 25));
  launch.device_duration = jitter(kernel == Kernel::memset ? 900 : work_us * kMicrosecond);
  launch.correlation = next_id_++;
  launch.external_id = call.id;
  launch.shape = hash;
  host_now_ += launch.duration + jitter(900);
  device_free_ = launch.device_start + launch.device_duration;
  step_.launches.push_back(launch);
}

// Gives an operation its memory; every second operation frees the memory of the previous one.
void StepModel::add_allocation(const Call& call) {
  const auto size =
      static_cast<std::int64_t>(1 + hash_of(*call.operation, call.layer) % 36) * 508'928;
  const auto address =
      static_cast<std::int64_t>(137'877'192'671'232 + shared_random() % 4096 * 508'928);
  allocated_ += size;
  step_.allocations.push_back({call.backward, host_now_, size, address, allocated_});
  host_now_ += jitter(300);
  if (shared_random() % 2 == 0) return;
  allocated_ -= size;
  step_.allocations.push_back({call.backward, host_now_, -size, address, allocated_});
}

void StepModel::begin_frame(Frame frame) {
  frame.start = host_now_;
  frame.duration = 0;
  frame.id = next_id_++;
  frame.parent = open_frames_.empty() ? 0 : step_.frames[open_frames_.back()].id;
  step_.frames.push_back(frame);
  open_frames_.push_back(step_.frames.size() - 1);
  host_now_ += jitter(500);
}

void StepModel::end_frame() {
  Frame& frame = step_.frames[open_frames_.back()];
  host_now_ += jitter(300);
  frame.duration = host_now_ - frame.start;
  open_frames_.pop_back();
}

void StepModel::add_leaf(const std::string& name, std::int64_t duration) {
  begin_frame({.name = &name});
  host_now_ += jitter(duration);
  end_frame();
}

}  // namespace traceloom::bench
