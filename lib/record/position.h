// Position, Action, Schedule: where the training is, and what is recorded there.
//
//   options.schedule = [](const Position& at) {
//     return at.batch < 5 ? Action::active : Action::skip;
//   };
//
// The schedule that most programs want is in schedule.h.
#pragma once

#include "record/traceloom.h"

#include <cstdint>
#include <functional>
#include <initializer_list>

namespace traceloom::record {

// The answer of a schedule for a batch.
enum class Action : std::uint8_t { skip, warmup, active, active_and_save };
// Returns "SKIP", "WARMUP", "ACTIVE" or "ACTIVE_AND_SAVE".
inline const char* to_string(Action action) {
  constexpr const char* kNames[] = {"SKIP", "WARMUP", "ACTIVE", "ACTIVE_AND_SAVE"};
  return kNames[static_cast<unsigned>(action) & 3];
}

// A place of the training: counts of what has been completed, as Composer counts them. All are 0
// at first but epoch_batches, the number of batches of an epoch, which is -1: not known.
struct Position : traceloom_position {
  constexpr Position() noexcept : traceloom_position TRACELOOM_POSITION_INIT {}
  constexpr Position(const traceloom_position& at) noexcept : traceloom_position(at) {}
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
  // Takes the bits of TRACELOOM_IN().
  constexpr explicit Actions(std::uint32_t bits) : bits_(bits) {}
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool contains(Action action) const { return (bits_ & bit(action)) != 0; }
  constexpr Actions with(Action action) const {
    Actions more = *this;
    more.bits_ |= bit(action);
    return more;
  }
  constexpr bool operator==(const Actions& other) const { return bits_ == other.bits_; }

 private:
  static constexpr std::uint32_t bit(Action action) {
    return TRACELOOM_IN(static_cast<unsigned>(action));
  }
  std::uint32_t bits_ = 0;
};
inline constexpr Actions kWhileRecording{Action::warmup, Action::active, Action::active_and_save};

}  // namespace traceloom::record
