// Engine: the work of a Session. It follows the schedule, opens and ends cycles, and owns the
// writer.
#pragma once

#include "record/buffers/clock.h"
#include "record/engine/writer.h"
#include "record/session.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace traceloom::record {

#pragma GCC visibility push(default)  // the merge per node calls it at exit
// Closes the session that is open, if there is one, so that it writes its files. The exit of the
// process calls this.
void close_open_session();
#pragma GCC visibility pop

enum class UseBarrier : std::uint8_t { no, yes };

class Engine {
 public:
  // Throws std::runtime_error.
  explicit Engine(Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void batch_begin(const Position& position);
  void batch_end(const Position& position);
  void set_position(const Position& position);
  bool is_open() const;
  Action action() const { return action_.load(std::memory_order_relaxed); }
  void record_external_trace(const std::string& path);
  void flush();
  bool wait_saved(unsigned timeout_ms);
  std::vector<SavedTrace> saved_traces() const;
  Status status() const;
  void close(UseBarrier use_barrier);

  // Returns false in a child of fork(), where there is no writer.
  bool is_of_this_process() const;
  // Called in a child of fork().
  void forget();
  // Does what close() does once the lock for closing is held.
  void close_locked(SyncRounds rounds);
  // Returns true within a call that the open session makes in its writer's thread, where close()
  // does nothing.
  static bool is_calling();

 private:
  void start();
  void send(Command command);
  void prepare_folder() const;
  void recover_journal() const;
  std::shared_ptr<Journal> make_journal(const ClockPair& start, std::string& problem) const;
  enum class NextBatch : std::uint8_t { comes, none };
  void follow_schedule(const Position& position, NextBatch next = NextBatch::comes);
  void end_grace(const Position& position);
  void arrive(const Position& position, NextBatch next);
  NextBatch next_batch(const Position& position) const;
  Position position() const;
  void open_cycle();
  SyncRounds sync(unsigned rounds) const;
  void complain(const std::string& text) const;

  Options options_;
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

}  // namespace traceloom::record
