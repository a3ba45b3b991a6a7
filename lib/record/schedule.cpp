#include "record/schedule.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace traceloom::record {

std::string_view to_string(RecordAction action) {
  static constexpr std::array<std::string_view, 4> kNames{"skip", "warmup", "active",
                                                          "active_and_save"};
  return kNames[static_cast<std::size_t>(action)];
}

RecordAction action_at(const CyclicSchedule& schedule, const TrainingPosition& position) {
  const bool resumed = !schedule.resumed_epoch || *schedule.resumed_epoch == position.epoch;
  // Batches since the first cycle began. Not written as sums, which could overflow.
  std::int64_t batch = position.batch_in_epoch - schedule.skip_first;
  if (resumed) batch -= schedule.resumed_at;
  const std::int64_t length = schedule.wait + schedule.warmup + schedule.active;
  if (batch < 0 || length <= 0) return RecordAction::skip;
  if (schedule.repeat != 0 && batch / length >= schedule.repeat) return RecordAction::skip;
  const std::int64_t in_cycle = batch % length;
  if (in_cycle < schedule.wait) return RecordAction::skip;
  if (in_cycle < schedule.wait + schedule.warmup) return RecordAction::warmup;
  const bool last_of_epoch =
      position.batches_in_epoch && position.batch_in_epoch == *position.batches_in_epoch - 1;
  return in_cycle == length - 1 || last_of_epoch ? RecordAction::active_and_save
                                                 : RecordAction::active;
}

Schedule cyclic_schedule(const CyclicSchedule& schedule) {
  // A cycle of a billion batches is none; sums of such numbers cannot overflow.
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
  return [schedule](const TrainingPosition& position) { return action_at(schedule, position); };
}

}  // namespace traceloom::record
