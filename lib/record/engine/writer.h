// Writer: the thread that hands recorded events to the handlers, and begins and ends cycles.
//
//   Writer writer(options, clock_pair);
//   writer.send({Command::Kind::begin_cycle, position, rounds});
//   ...
//   writer.wait(writer.send({Command::Kind::end_cycle, position, rounds}));
#pragma once

#include "record/engine/cycle_writer.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace traceloom::record {

class Writer {
 public:
  // Starts the thread. `options` must outlive the writer.
  Writer(const SessionOptions& options, const ClockPair& start, std::uint32_t main_tid,
         std::shared_ptr<Journal> journal);
  ~Writer();  // needs a stop command before
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Any thread may call these. Takes the command and returns its number. After a stop, no command
  // is taken any more, and the number of the stop is returned.
  std::uint64_t send(Command command);
  // Waits until the command with that number, and all before it, are done, or until the thread has
  // ended. Returns false after `timeout_ms`. The writer's own thread does not wait.
  bool wait(std::uint64_t number, std::optional<unsigned> timeout_ms = std::nullopt);
  std::uint64_t last_end_of_cycle() const;
  StatusBoard& board() { return status_; }
  // Returns whether this thread is a writer's own, in which nothing is waited for.
  static bool is_own_thread();
  // Called in the child of a fork(): there is no thread here.
  void forget();

 private:
  void leave_journal();
  bool holds_ring(const Command& command) const;
  std::optional<std::uint64_t> ticks_if_idle() const;
  void run();
  void execute(const Command& command);
  void execute_all(const std::vector<Command>& commands);
  void finish_one(const Command& command);
  void cut_held(std::uint64_t ticks);
  void cut_held_in_time();
  void drain_idle();
  bool is_ring() const { return options_.when_full == TRACELOOM_RING; }

  const SessionOptions& options_;
  ChunkPool& pool_;
  std::shared_ptr<Journal> journal_;
  StatusBoard status_;

  mutable std::mutex mutex_;  // for the members from here to is_stopped_
  std::condition_variable finished_;
  std::vector<Command> commands_;  // those that wait for the thread
  std::uint64_t sent_ = 0;
  bool is_stop_sent_ = false;
  std::uint64_t finished_number_ = 0;
  std::uint64_t last_end_of_cycle_ = 0;
  bool is_stopped_ = false;

  // The thread's own members. Nothing that lives long is on its stack: the child of a fork() has a
  // copy of that memory, and nobody there knows of it.
  CycleWriter cycle_;
  std::vector<Command> taken_;   // commands in progress
  std::optional<Command> held_;  // an end with grace that waits
  std::chrono::steady_clock::time_point held_until_;
  Position position_;  // the last one that is known

  std::thread thread_;
};

}  // namespace traceloom::record
