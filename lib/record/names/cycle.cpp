// The functions of traceloom.h for cyclic schedules.
#include "record/support/c_calls.h"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace traceloom::record {
namespace {

traceloom_cycle complete_cycle(const traceloom_cycle* given) {
  return complete(given, traceloom_cycle TRACELOOM_CYCLE_INIT, "traceloom_cycle");
}

traceloom_action action_at(const traceloom_cycle& cycle, const traceloom_position& at) {
  const bool resumed =
      cycle.resumed_epoch < 0 || cycle.resumed_epoch == static_cast<std::int64_t>(at.epoch);
  const auto batch_in_epoch = static_cast<std::int64_t>(at.batch_in_epoch);
  std::int64_t batch = batch_in_epoch - cycle.skip_first;  // since the first cycle began
  if (resumed) batch -= cycle.resumed_at;
  const std::int64_t length = cycle.wait + cycle.warmup + cycle.active;
  if (batch < 0 || length <= 0) return TRACELOOM_SKIP;
  if (cycle.repeat != 0 && batch / length >= cycle.repeat) return TRACELOOM_SKIP;
  const std::int64_t in_cycle = batch % length;
  if (in_cycle < cycle.wait) return TRACELOOM_SKIP;
  if (in_cycle < cycle.wait + cycle.warmup) return TRACELOOM_WARMUP;
  const bool last_of_epoch = at.epoch_batches >= 0 && batch_in_epoch + 1 == at.epoch_batches;
  return in_cycle == length - 1 || last_of_epoch ? TRACELOOM_ACTIVE_AND_SAVE : TRACELOOM_ACTIVE;
}

// Throws std::invalid_argument for a negative number, and if a cycle has no batch.
void check(const traceloom_cycle& cycle) {
  // No schedule needs larger numbers, and sums of such numbers cannot overflow.
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const std::pair<std::string_view, std::int64_t> values[] = {
      {"skip_first", cycle.skip_first}, {"wait", cycle.wait},     {"warmup", cycle.warmup},
      {"active", cycle.active},         {"repeat", cycle.repeat}, {"resumed_at", cycle.resumed_at}};
  for (const auto& [name, value] : values)
    if (value < 0 || value > kMost)
      throw std::invalid_argument(
          fmt::format("schedule: {} is {}; it counts batches, from 0 to {}", name, value, kMost));
  if (cycle.wait + cycle.warmup + cycle.active == 0)
    throw std::invalid_argument(
        "schedule: wait, warmup and active are all 0, so no cycle has a batch; "
        "active = 1 records one");
}

}  // namespace
}  // namespace traceloom::record

using namespace traceloom::record;

int traceloom_check_cycle(const traceloom_cycle* cycle) {
  return with(cycle, [](const traceloom_cycle& given) { check(complete_cycle(&given)); });
}

int traceloom_cyclic_schedule(void* cycle, const traceloom_position* at) {
  int action = TRACELOOM_SKIP;
  with(static_cast<const traceloom_cycle*>(cycle), [&](const traceloom_cycle& given) {
    action = action_at(complete_cycle(&given), complete(at));
  });
  return action;
}
