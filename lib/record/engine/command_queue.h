// CommandQueue: what the session asks of the writer's thread, in the order of the requests.
//
//   CommandQueue queue(pool, options.when_full);
//   queue.wait(queue.send(command).number);   // any thread
//   queue.take(commands);                     // the writer's thread, which then does them
//   queue.finish_one(is_stop);                // after each
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock_sync.h"
#include "record/session.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

// A request of the session. All that was recorded up to `ticks` comes before it.
struct Command {
  enum class Kind : std::uint8_t { begin_cycle, end_cycle, external_trace, flush, end_grace, stop };
  Kind kind = Kind::flush;
  Position position = {};
  SyncRounds rounds = {};  // for begin and end of a cycle; may be empty
  std::string path = {};   // for an external trace
  // For the end of a cycle: the file is cut when the next command comes, or when Options::flush_ms
  // have passed, so that it has what ends in this moment.
  bool has_grace = false;
  std::uint64_t ticks = 0;    // when it was sent; set by CommandQueue::send()
  std::uint64_t dropped = 0;  // dropped in the session by then

  bool ends_cycle() const { return kind == Kind::end_cycle || kind == Kind::stop; }
};

// Thread-safe.
class CommandQueue {
 public:
  CommandQueue(ChunkPool& pool, WhenFull when_full) : pool_(pool), when_full_(when_full) {}

  struct Sent {
    std::uint64_t number = 0;
    bool is_taken = false;
  };
  // Takes the command and returns its number. After a stop, no command is taken any more, and the
  // number of the stop is returned.
  Sent send(Command& command);
  // Waits until the command with that number, and all before it, are done, or until the thread has
  // ended. Returns false after `timeout_ms`.
  bool wait(std::uint64_t number, unsigned timeout_ms);
  void wait(std::uint64_t number);
  bool is_finished(std::uint64_t number) const;
  std::uint64_t last_end_of_cycle() const;

  // The functions below are for the writer's thread.
  // Replaces `commands` by those that wait.
  void take(std::vector<Command>& commands);
  // Returns the time now, before which all commands have been taken; none if a command waits.
  std::optional<std::uint64_t> ticks_if_idle() const;
  void finish_one(bool is_stop);
  // Between the end of a cycle and its draining, a ring would overwrite what has to be saved.
  bool holds_ring(const Command& command) const;

 private:
  ChunkPool& pool_;
  WhenFull when_full_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Command> commands_;
  std::uint64_t sent_ = 0;
  bool is_stop_sent_ = false;
  std::uint64_t finished_number_ = 0;
  std::uint64_t last_end_of_cycle_ = 0;
  bool is_stopped_ = false;
};

}  // namespace traceloom::record
