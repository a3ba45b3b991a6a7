// The parts of a writer: its commands, its status, its handlers and its clock.
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/files/json_sink.h"
#include "record/journal/journal.h"
#include "record/names/session_place.h"
#include "record/session.h"
#include "record/trace_handler.h"

#include <cstdint>
#include <memory>
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
  std::uint64_t ticks = 0;    // when it was sent; set by Writer::send()
  std::uint64_t dropped = 0;  // dropped in the session by then

  bool ends_cycle() const { return kind == Kind::end_cycle || kind == Kind::stop; }
};

// StatusBoard: what other threads may ask of the writer: its counts, its last error, and the traces
// that it has saved.
//
//   StatusBoard board(options);
//   board.set_error("trace.json: No space left on device");   // also into the program's log
//   board.status().last_error

// Returns the text of the exception that is being handled; a program's callbacks may throw
// anything.
std::string current_problem();
// Returns the same without the file that it was about.
std::string current_reason();

// Thread-safe.
class StatusBoard {
 public:
  // `options` must outlive the board.
  explicit StatusBoard(const Options& options);

  Status status() const;
  std::vector<SavedTrace> saved_traces() const;
  void set_error(const std::string& text);
  // Adds to the counts. `bytes` is how many have been written so far; none without files.
  void add_counts(std::uint64_t events, std::uint64_t lost, std::optional<std::uint64_t> bytes);
  // Tells the program of a trace that has been saved, and deletes old files after it has used this
  // one. `part` is none for a trace without a file.
  void save(const SavedTrace& saved, std::optional<TracePart> part);

 private:
  const Options& options_;
  mutable std::mutex mutex_;
  KeptTraces kept_;
  Status status_;
};

// HandlerList: all that get the recorded events: the JSON file, and the handlers of the program.
//
//   HandlerList handlers(options, status, next_path);
//   handlers.call([](TraceHandler& handler) { handler.flush(); });

// A handler that throws gets nothing more of the cycle. Only the writer's thread may use it.
class HandlerList {
 public:
  HandlerList(const Options& options, StatusBoard& status, NextPath next_path);

  // Gives all handlers another chance.
  void begin_cycle();
  template <typename Call>
  void call(const Call& use);
  // Leaves out the JSON file.
  template <typename Call>
  void call_others(const Call& use);
  void metadata(const char* name, const std::string& args, std::int64_t at_ns, std::int64_t tid);
  // A trace that cannot be read is no reason to stop the file.
  void take_external_trace(const std::string& path);

  // Returns nullptr without files.
  JsonSink* json() const { return json_.get(); }
  bool has_file() const { return json_ != nullptr && json_->has_file(); }
  bool has_json_failed() const { return json_ != nullptr && handlers_.front().has_failed; }
  // Stops the file because of the exception that is being handled.
  void fail_json();
  // Returns why nothing more of this cycle is written, or nothing.
  const std::string& json_failure() const { return json_failure_; }

 private:
  struct Handler {
    std::shared_ptr<TraceHandler> handler;
    bool has_failed = false;  // in this cycle
  };

  void fail(Handler& handler);

  StatusBoard& status_;
  std::shared_ptr<JsonSink> json_;  // also the first of handlers_; null without files
  std::vector<Handler> handlers_;
  std::string json_failure_;
};

template <typename Call>
void HandlerList::call(const Call& use) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      use(*handler.handler);
    } catch (...) {
      fail(handler);
    }
  }
}

template <typename Call>
void HandlerList::call_others(const Call& use) {
  call([&](TraceHandler& handler) {
    if (&handler != json_.get()) use(handler);
  });
}

// WriterClock: makes nanoseconds of ticks. It takes pairs of both, and checks whether they still
// fit together.
//
//   WriterClock clock(start, status, journal);
//   clock.keep_time();          // often
//   clock.line().ns(ticks)

// Only the writer's thread may use it.
class WriterClock {
 public:
  // `journal` may be null.
  WriterClock(const ClockPair& start, StatusBoard& status, Journal* journal)
      : status_(status), journal_(journal), line_(start) {}

  // Adds a pair a second. The first call waits until the speed of the counter is known.
  void keep_time();
  // Returns a pair that has been checked.
  ClockPair read();
  const TimeLine& line() const { return line_; }

 private:
  void check(const ClockPair& pair);

  StatusBoard& status_;
  Journal* journal_;
  TimeLine line_;
  bool is_told_ = false;
};

// WriterParts: what the parts of a writer have in common.

// The parts hold references: what they refer to must outlive them.
struct WriterParts {
  const Options& options;
  StatusBoard& status;
  WriterClock& clock;
  HandlerList& handlers;
  Journal* journal = nullptr;  // may be null
  std::uint32_t main_tid = 0;
  std::uint64_t first_ticks = 0;  // start of the session
};

}  // namespace traceloom::record
