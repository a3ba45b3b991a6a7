// Position, Action, Schedule: where the training is, and what is recorded there.
//
//   options.schedule = [](const Position& at) {
//     return at.batch < 5 ? Action::active : Action::skip;
//   };
//
// The schedule that most programs want is in schedule.h.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>

#pragma GCC visibility push(default)

namespace traceloom::record {

// The answer of a schedule for a batch.
enum class Action : std::uint8_t { skip, warmup, active, active_and_save };
const char* to_string(Action action);  // "SKIP", "WARMUP", "ACTIVE", "ACTIVE_AND_SAVE"

// A place of the training: counts of what has been completed, as Composer counts them.
struct Position {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  // in the whole run
  std::uint64_t batch_in_epoch = 0;
  std::uint64_t sample = 0;
  std::uint64_t sample_in_epoch = 0;
  std::uint64_t token = 0;
  std::uint64_t token_in_epoch = 0;
  double total_wct = 0;  // wall-clock seconds
  double epoch_wct = 0;
  double batch_wct = 0;
  std::optional<std::uint64_t> epoch_batches;  // number of batches of an epoch, if known
};

// A schedule must give the same answer for the same position. batch_begin(), batch_end() and
// set_position() ask it. It is never asked where events are recorded, and not for a batch after the
// last one of an epoch (epoch_batches) while no cycle is open.
using Schedule = std::function<Action(const Position&)>;

// A set of actions.
class Actions {
 public:
  constexpr Actions() = default;
  constexpr Actions(std::initializer_list<Action> actions) {
    for (const Action action : actions) bits_ |= bit(action);
  }
  constexpr bool contains(Action action) const { return (bits_ & bit(action)) != 0; }
  constexpr Actions with(Action action) const {
    Actions more = *this;
    more.bits_ |= bit(action);
    return more;
  }
  constexpr bool operator==(const Actions& other) const { return bits_ == other.bits_; }

 private:
  static constexpr unsigned bit(Action action) { return 1U << static_cast<unsigned>(action); }
  unsigned bits_ = 0;
};
inline constexpr Actions kWhileRecording{Action::warmup, Action::active, Action::active_and_save};

}  // namespace traceloom::record

#pragma GCC visibility pop
