#include "record/names/schedule.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace traceloom::record {

Action action_at(const CyclicSchedule& schedule, const Position& position) {
  const bool resumed = !schedule.resumed_epoch ||
                       *schedule.resumed_epoch == static_cast<std::int64_t>(position.epoch);
  const auto batch_in_epoch = static_cast<std::int64_t>(position.batch_in_epoch);
  std::int64_t batch = batch_in_epoch - schedule.skip_first;  // since the first cycle began
  if (resumed) batch -= schedule.resumed_at;
  const std::int64_t length = schedule.wait + schedule.warmup + schedule.active;
  if (batch < 0 || length <= 0) return Action::skip;
  if (schedule.repeat != 0 && batch / length >= schedule.repeat) return Action::skip;
  const std::int64_t in_cycle = batch % length;
  if (in_cycle < schedule.wait) return Action::skip;
  if (in_cycle < schedule.wait + schedule.warmup) return Action::warmup;
  const bool last_of_epoch =
      position.epoch_batches && position.batch_in_epoch + 1 == *position.epoch_batches;
  return in_cycle == length - 1 || last_of_epoch ? Action::active_and_save : Action::active;
}

Schedule cyclic_schedule(const CyclicSchedule& schedule) {
  // No schedule needs larger numbers, and sums of such numbers cannot overflow.
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const std::pair<std::string_view, std::int64_t> values[] = {
      {"skip_first", schedule.skip_first}, {"wait", schedule.wait},
      {"warmup", schedule.warmup},         {"active", schedule.active},
      {"repeat", schedule.repeat},         {"resumed_at", schedule.resumed_at}};
  for (const auto& [name, value] : values)
    if (value < 0 || value > kMost)
      throw std::invalid_argument(
          fmt::format("schedule: {} is {}; it counts batches, from 0 to {}", name, value, kMost));
  if (schedule.wait + schedule.warmup + schedule.active == 0)
    throw std::invalid_argument(
        "schedule: wait, warmup and active are all 0, so no cycle has a batch; "
        "active = 1 records one");
  return [schedule](const Position& position) { return action_at(schedule, position); };
}

}  // namespace traceloom::record
