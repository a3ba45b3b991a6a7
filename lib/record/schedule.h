// CyclicSchedule: records a few batches now and then, as the cyclic schedule of Composer does.
//
//   options.schedule = cyclic_schedule({.wait = 10, .warmup = 1, .active = 4, .repeat = 0});
//
// Any other function of a Position will do as a schedule.
#pragma once

#include "record/failure.h"
#include "record/position.h"

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace traceloom::record {

// Applies to each epoch anew: skip_first batches are skipped; then `repeat` times (0: to the end of
// the epoch) `wait` batches are skipped, `warmup` and `active` batches recorded. The trace is saved
// at the last active batch of a cycle, and at the last batch of an epoch if that is active and
// known to be the last.
struct CyclicSchedule {
  std::int64_t skip_first = 0;
  std::int64_t wait = 0;
  std::int64_t warmup = 1;
  std::int64_t active = 4;
  std::int64_t repeat = 1;
  // Batches of the epoch that came before the checkpoint from which the run was resumed. They are
  // skipped in addition to skip_first, so that skip_first counts batches of the resumed run.
  std::int64_t resumed_at = 0;
  // The epoch in which the run was resumed. Composer cannot know it and skips resumed_at batches of
  // every later epoch, too; so does this schedule if it is left out.
  std::optional<std::int64_t> resumed_epoch = std::nullopt;
};

namespace detail {

inline traceloom_cycle cycle_for_c(const CyclicSchedule& from) {
  return {sizeof(traceloom_cycle),
          from.skip_first,
          from.wait,
          from.warmup,
          from.active,
          from.repeat,
          from.resumed_at,
          from.resumed_epoch.value_or(-1)};
}

}  // namespace detail

inline Action action_at(const CyclicSchedule& schedule, const Position& position) {
  traceloom_cycle cycle = detail::cycle_for_c(schedule);
  return static_cast<Action>(traceloom_cyclic_schedule(&cycle, &position));
}

// Throws std::invalid_argument for a negative number, and if a cycle has no batch.
inline Schedule cyclic_schedule(const CyclicSchedule& schedule) {
  const traceloom_cycle cycle = detail::cycle_for_c(schedule);
  if (traceloom_check_cycle(&cycle) != 0) detail::fail<std::invalid_argument>();
  return [schedule](const Position& position) { return action_at(schedule, position); };
}

}  // namespace traceloom::record
