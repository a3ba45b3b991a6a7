#include "record/engine/command_queue.h"

#include <chrono>
#include <utility>

namespace traceloom::record {

CommandQueue::Sent CommandQueue::send(Command& command) {
  std::unique_lock lock(mutex_);
  if (is_stop_sent_) return {sent_, false};
  if (holds_ring(command)) pool_.hold();
  // The time is read with the lock held, so that what the thread drains without a command lies
  // before the next command.
  command.ticks = detail::now();
  command.dropped = pool_.dropped();
  const std::uint64_t number = ++sent_;
  if (command.kind == Command::Kind::end_cycle) last_end_of_cycle_ = number;
  is_stop_sent_ = command.kind == Command::Kind::stop;
  commands_.push_back(std::move(command));
  lock.unlock();
  pool_.wake();
  return {number, true};
}

bool CommandQueue::wait(std::uint64_t number, unsigned timeout_ms) {
  std::unique_lock lock(mutex_);
  return finished_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                            [&] { return finished_number_ >= number || is_stopped_; });
}

void CommandQueue::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return finished_number_ >= number || is_stopped_; });
}

bool CommandQueue::is_finished(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return finished_number_ >= number;
}

std::uint64_t CommandQueue::last_end_of_cycle() const {
  const std::lock_guard lock(mutex_);
  return last_end_of_cycle_;
}

void CommandQueue::take(std::vector<Command>& commands) {
  commands.clear();
  const std::lock_guard lock(mutex_);
  commands.swap(commands_);
}

std::optional<std::uint64_t> CommandQueue::ticks_if_idle() const {
  const std::lock_guard lock(mutex_);
  if (!commands_.empty()) return std::nullopt;
  return detail::now();
}

void CommandQueue::finish_one(bool is_stop) {
  const std::lock_guard lock(mutex_);
  ++finished_number_;
  is_stopped_ |= is_stop;
  finished_.notify_all();
}

bool CommandQueue::holds_ring(const Command& command) const {
  return when_full_ == WhenFull::ring && command.ends_cycle();
}

}  // namespace traceloom::record
