// Engine: does the work of a session. It follows the schedule, opens and ends cycles, and owns the
// writer.
//
//   Engine engine(SessionOptions(given));
//   engine.batch_begin(position);
//   ...
//   engine.close(Engine::UseBarrier::yes);
#pragma once

#include "record/engine/writer.h"
#include "record/names/session_place.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

// Closes the session that is open, if there is one, so that it writes its files. The exit of the
// process calls this, and that of the merge per node.
extern "C" TRACELOOM_API void traceloom_close_open_session();

namespace traceloom::record {

class Engine {
 public:
  // Throws std::runtime_error. `has_met` says whether it has met the other ranks by then.
  Engine(SessionOptions options, bool& has_met);
  // Makes one that records nothing, but follows the schedule and meets at the barrier.
  enum class HasMet : std::uint8_t { no, yes };
  Engine(SessionOptions options, HasMet has_met);
  ~Engine() { close(UseBarrier::no); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void batch_begin(const Position& position) {
    if (!is_at_work()) return;
    arrive(position, NextBatch::comes);
    if (action_ != Action::skip && !is_cycle_open_) open_cycle();
  }

  void batch_end(const Position& position) {
    if (!is_at_work()) return;
    if (action_ == Action::active_and_save && is_cycle_open_) {
      is_cycle_open_ = false;
      SyncRounds rounds = meet_at_end();
      has_grace_ = next_batch(position) == NextBatch::none;
      send({Command::Kind::end_cycle, position, std::move(rounds), {}, has_grace_});
    }
    follow_schedule(position, next_batch(position));
  }

  void set_position(const Position& position) {
    if (is_at_work()) arrive(position, next_batch(position));
  }

  bool is_open() const {
    const std::shared_lock lock(mutex_);
    return writer_ != nullptr;
  }

  Action action() const { return action_.load(std::memory_order_relaxed); }
  void record_external_trace(const std::string& path) {
    send({Command::Kind::external_trace, position(), {}, path});
  }

  void flush() {
    const std::shared_lock lock(mutex_);
    if (writer_ != nullptr) writer_->wait(writer_->send({Command::Kind::flush, position()}));
  }

  bool wait_saved(unsigned timeout_ms) {
    const std::shared_lock lock(mutex_);
    if (writer_ == nullptr) return true;
    writer_->send({Command::Kind::end_grace, position()});
    return writer_->wait(writer_->last_end_of_cycle(), timeout_ms);
  }

  std::vector<SavedTrace> saved_traces() const {
    const std::shared_lock lock(mutex_);
    return writer_ != nullptr ? writer_->board().saved_traces() : saved_at_close_;
  }

  Status status() const {
    const std::shared_lock lock(mutex_);
    Status status = writer_ != nullptr ? writer_->board().status() : status_at_close_;
    if (writer_ == nullptr) return status;
    status.dropped = ChunkPool::instance().dropped();
    status.peak_pool_bytes = ChunkPool::instance().peak_bytes();
    status.misuses = Registry::instance().misuses() - misuses_before_;
    return status;
  }

  enum class UseBarrier : std::uint8_t { no, yes };
  void close(UseBarrier use_barrier);

  // Returns false in a child of fork(), where there is no writer.
  bool is_of_this_process() const;
  // Called in a child of fork().
  void forget() {
    if (writer_ != nullptr) writer_->forget();
  }

  // Does what close() does once the lock for closing is held.
  void close_locked(SyncRounds rounds);

 private:
  void start(bool& has_met);
  bool is_at_work() const { return is_follower_ || is_open(); }
  bool has_journal() const { return *options_.journal_folder != '\0'; }
  void set_position_of_events() const {
    traceloom_events_at.store(position_.epoch << 32 | (position_.batch & 0xffffffffU),
                              std::memory_order_relaxed);
  }
  // Does nothing once the session is closed: another thread may exit the process, which closes it.
  void send(Command command) {
    const std::shared_lock lock(mutex_);
    if (writer_ != nullptr) writer_->send(std::move(command));
  }

  void prepare_folder() const;
  void recover_journal() const;
  std::shared_ptr<Journal> make_journal(const ClockPair& start, std::string& problem) const;
  enum class NextBatch : std::uint8_t { comes, none };
  void follow_schedule(const Position& position, NextBatch next = NextBatch::comes) {
    {
      const std::lock_guard lock(position_mutex_);
      position_ = position;
    }
    const bool has_answer = next == NextBatch::comes || options_.schedule == nullptr;
    action_ = has_answer ? options_.action_at(position) : Action::skip;
    if (is_follower_) return;
    set_position_of_events();
    Registry::instance().set_action(action_);
  }

  void arrive(const Position& position, NextBatch next) {
    // Events that are recorded from here on belong to the next cycle.
    if (std::exchange(has_grace_, false)) send({Command::Kind::end_grace, position});
    const bool begins_epoch = position.epoch != this->position().epoch;
    const std::uint64_t before = traceloom_events_at.load(std::memory_order_relaxed);
    follow_schedule(position, next);
    if (begins_epoch && !is_follower_) Registry::instance().begin_epoch(before, action_);
  }

  // After the last batch of an epoch, a schedule has no answer for a next batch. What is recorded
  // there would be a trace of its own, unless the cycle goes on.
  NextBatch next_batch(const Position& position) const {
    const bool is_at_end =
        position.epoch_batches > 0 &&
        position.batch_in_epoch >= static_cast<std::uint64_t>(position.epoch_batches);
    return is_at_end && !is_cycle_open_ ? NextBatch::none : NextBatch::comes;
  }

  Position position() const {
    const std::lock_guard lock(position_mutex_);
    return position_;
  }

  void open_cycle() {
    is_cycle_open_ = true;
    send({Command::Kind::begin_cycle, position_, meet_at_begin()});
  }

  SyncRounds meet_at_begin() const {
    if (options_.barrier != nullptr)
      return meet(options_.meeting(), std::max(options_.sync_rounds, 1U));
    // A single rank agrees with itself; of several ranks without a barrier, nothing is known.
    return options_.world_size == 1 ? meet([] {}, 1) : SyncRounds{};
  }

  SyncRounds meet_at_end() const {
    return options_.sync_at_end != 0 && options_.barrier != nullptr ? meet_at_begin()
                                                                    : SyncRounds{};
  }

  void complain(const std::string& text) const {
    if (options_.log != nullptr) options_.log(options_.log_arg, text.c_str());
  }

  SessionOptions options_;
  bool is_follower_ = false;  // and has not been closed
  std::uint64_t generation_;
  std::uint64_t misuses_before_ = 0;
  std::atomic<Action> action_ = Action::skip;
  mutable std::mutex position_mutex_;
  Position position_;
  bool is_cycle_open_ = false;
  bool has_grace_ = false;  // the last cycle was the last of its epoch and still takes events
  // Threads that use the writer share it; close() takes it alone and removes the writer.
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Writer> writer_;
  std::vector<SavedTrace> saved_at_close_;
  Status status_at_close_;
};

// Returns true within a call that the open session makes in its writer's thread, where closing does
// nothing.
bool is_session_calling();

}  // namespace traceloom::record
