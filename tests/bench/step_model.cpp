#include "bench/step_model.h"

#include <algorithm>

namespace traceloom::bench {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kLayers = 12;
constexpr std::int64_t kCallsOfLayer = 14;
constexpr std::size_t kFramesOfLayer = 16;
constexpr std::int64_t kStepDuration = 34'000 * kMicrosecond;
constexpr std::int64_t kCollectiveEnd = 31'000 * kMicrosecond;
constexpr std::int64_t kIdsOfStep = 4'000;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

// One number of a stream (splitmix64).
std::uint64_t next(std::uint64_t& state) {
  return mix(state += 0x9E3779B97F4A7C15U);
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
  step_.calls.clear();
  step_.frames.clear();
  step_.number = number;
  step_.start = number * kStepDuration;
  step_.duration = kStepDuration - 20 * kMicrosecond;
  step_.loader_duration = jitter(900 * kMicrosecond);
  host_now_ = step_.start + step_.loader_duration + jitter(30 * kMicrosecond);
  device_free_ = host_now_;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) add_layer(layer, false);
  for (std::int64_t layer = kLayers; layer-- > 0;) add_layer(layer, true);
  const std::int64_t collective_end = step_.start + kCollectiveEnd;
  step_.collective_start =
      std::min(std::max(device_free_, host_now_), collective_end - 500 * kMicrosecond);
  step_.collective_duration = collective_end - step_.collective_start;
  step_.optimizer_start = collective_end + 100 * kMicrosecond;
  return step_;
}

// Python frames around the layer's calls: module, forward(), and so on, each inside the one before.
void StepModel::add_layer(std::int64_t layer, bool backward) {
  const std::size_t first = step_.frames.size();
  const std::size_t frames = backward ? 0 : kFramesOfLayer;
  innermost_frame_ = 0;
  for (std::size_t depth = 0; depth < frames; ++depth, host_now_ += 400)
    add_frame(depth % 4 == 0, host_now_, 0);
  const std::int64_t calls = kCallsOfLayer + layer % 3;
  for (std::int64_t call = 0; call < calls; ++call) add_call(backward);
  for (std::size_t i = first + frames; i-- > first; host_now_ += 300)
    step_.frames[i].duration = host_now_ - step_.frames[i].start;
  host_now_ += 2 * kMicrosecond;
}

void StepModel::add_frame(bool is_module, std::int64_t start, std::int64_t duration) {
  const std::size_t limit = is_module ? names_.modules.size() : names_.frames.size();
  step_.frames.push_back({is_module, static_cast<std::size_t>(shared_random() % limit), start,
                          duration, next_id_++, innermost_frame_});
  if (duration == 0) innermost_frame_ = step_.frames.back().id;
}

void StepModel::add_call(bool backward) {
  Call call;
  call.backward = backward;
  call.op = shared_random() % names_.operators.size();
  call.kernel = shared_random() % names_.kernels.size();
  call.shape = shared_random();
  call.start = host_now_;
  call.duration = jitter(40 * kMicrosecond);
  call.launch = call.start + call.duration / 2;
  call.launch_duration = call.duration / 4;
  const auto work_us = static_cast<std::int64_t>(2 + call.shape % (backward ? 90 : 50));
  call.kernel_start =
      std::max(call.launch + jitter(6 * kMicrosecond), device_free_ + jitter(kMicrosecond));
  call.kernel_duration = jitter(work_us * kMicrosecond);
  call.id = next_id_++;
  if (!backward) add_frame(false, call.start, call.duration);
  host_now_ = call.start + call.duration + jitter(3 * kMicrosecond);
  device_free_ = call.kernel_start + call.kernel_duration;
  step_.calls.push_back(call);
}

}  // namespace traceloom::bench
