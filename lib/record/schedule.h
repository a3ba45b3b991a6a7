// Schedule: which batches of a training run are recorded, and at which a trace is saved.
//
//   Schedule schedule = cyclic_schedule({.wait = 10, .warmup = 1, .active = 4, .repeat = 0});
//   schedule(position) == RecordAction::warmup
//
// Any function will do: Schedule s = [](const TrainingPosition& at) { return at.epoch == 3 ? ... };
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace traceloom::record {

enum class RecordAction : std::uint8_t {
  skip,             // record nothing
  warmup,           // record; of use to what has to get going before it measures
  active,           // record
  active_and_save,  // record, and save the trace at the end of this batch
};
// "skip", "warmup", "active", "active_and_save".
std::string_view to_string(RecordAction action);

// How far training has come. At the begin of a batch these are the batches, samples and tokens
// before it; at its end it is among them.
struct TrainingPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  std::int64_t batch_in_epoch = 0;
  std::int64_t sample = 0;
  std::int64_t sample_in_epoch = 0;
  std::int64_t token = 0;
  std::int64_t token_in_epoch = 0;
  // Wall-clock time of training, of this epoch, of the last batch.
  double total_seconds = 0;
  double epoch_seconds = 0;
  double batch_seconds = 0;
  std::optional<std::int64_t> batches_in_epoch = std::nullopt;  // nullopt where nobody knows yet
};

// What to do in the batch that begins at this position. Called by one thread at a time.
using Schedule = std::function<RecordAction(const TrainingPosition&)>;

// In each epoch anew: skip_first batches are skipped; then `repeat` times (0: to the end of the
// epoch) `wait` are skipped, `warmup` and `active` recorded. The trace is saved at the last active
// batch of a cycle, and at the last batch of an epoch if that is active and known to be the last.
struct CyclicSchedule {
  std::int64_t skip_first = 0;
  std::int64_t wait = 0;
  std::int64_t warmup = 1;
  std::int64_t active = 4;
  std::int64_t repeat = 1;
  // Batches of the epoch that a run resumed from a checkpoint has behind it: skipped beside
  // skip_first, so that what is skipped is skipped by the resumed run.
  std::int64_t resumed_at = 0;
  // The epoch it resumed in. Composer cannot tell and skips resumed_at batches of every later
  // epoch, too; so does this when it is left out.
  std::optional<std::int64_t> resumed_epoch = std::nullopt;
};

RecordAction action_at(const CyclicSchedule& schedule, const TrainingPosition& position);

// Throws std::invalid_argument for a negative number, and where a cycle has no batch.
Schedule cyclic_schedule(const CyclicSchedule& schedule);

}  // namespace traceloom::record
