// How cycles are written: what the session asks of its writer, what other threads may ask of that,
// and the handlers that get the events.
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/files/event_sources.h"
#include "record/files/json_sink.h"
#include "record/journal/journal.h"
#include "record/names/session_place.h"
#include "record/session.h"
#include "record/trace_handler.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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
  // For the end of a cycle: the file is cut when the next command comes, or when flush_ms of the
  // options have passed, so that it has what ends in this moment.
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
  explicit StatusBoard(const SessionOptions& options);

  Status status() const;
  std::vector<SavedTrace> saved_traces() const;
  void set_error(const std::string& text);
  // Adds to the counts. `bytes` is how many have been written so far; none without files.
  void add_counts(std::uint64_t events, std::uint64_t lost, std::optional<std::uint64_t> bytes);
  // Tells the program of a trace that has been saved, and deletes old files after it has used this
  // one. `part` is none for a trace without a file.
  void save(const SavedTrace& saved, std::optional<TracePart> part);

 private:
  const SessionOptions& options_;
  const std::function<void(const std::string&)> log_;
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
  HandlerList(const SessionOptions& options, StatusBoard& status, NextPath next_path);

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

// CycleWriter: writes cycles: their events, the names of their files, and what these say besides
// events: rank, host, clock.
//
//   CycleWriter cycle(options, status, clock_pair, main_tid, journal);
//   cycle.begin(position);
//   cycle.drain(ticks);                         // events that were recorded until then
//   cycle.end(command, dropped);
//
// It takes slots out of chunks that are still being filled, so no thread has to help it.

// Only the writer's thread may use it.
class CycleWriter {
 public:
  // `options` and `status` must outlive it, and so must `journal`, which may be null.
  CycleWriter(const SessionOptions& options, StatusBoard& status, const ClockPair& start,
              std::uint32_t main_tid, Journal* journal);

  bool is_open() const { return is_open_; }
  // Begins a cycle that takes what ended after the last one, until go_on() says otherwise.
  void begin(const Position& position);
  // Makes it a cycle that the schedule wants, whose ranks have met at its begin.
  void go_on(const SyncRounds& rounds);
  // `dropped_so_far`: the events of the session that were dropped before this end.
  void end(const Command& command, std::uint64_t dropped_so_far);

  // Takes events out of the threads' chunks, hands them to the handlers, and counts them.
  void drain(std::uint64_t up_to_ticks);
  // Writes what the handlers have into the file, and notes it in the chunks.
  void flush();
  // Returns whether there are events that no file has, or that were dropped and no file says so.
  bool has_untold_events();

  // Notes the path of the file that comes next in the journal, if there is one.
  void announce_next_file(const Position& position);

  // Adds a pair of ticks and nanoseconds a second, by which the ticks of events become nanoseconds.
  // The first call waits until the speed of the counter is known.
  void keep_time();
  HandlerList& handlers() { return handlers_; }

 private:
  // Returns a pair that fits those before, or complains.
  ClockPair read_clock();
  void check_clock(const ClockPair& pair);
  std::uint32_t drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks);
  const EventThread& thread_of(const detail::ChunkHeader& chunk);
  // Writes ends for long-running markers that are open. Whoever reads this file alone sees them up
  // to here; the file in which they end has the whole slices.
  void cut_open_slices(std::uint64_t at_ticks);
  void check_labels();
  void count_left_out();
  // Adds to the status what has been counted since the last call.
  void tell_counts();
  std::uint64_t in_file() const { return events_ - lost_; }

  std::string path_at(const Position& position);
  std::string final_path_at(const Position& position);
  // Two runs that begin in one folder at a time look for a name at the same time, too. The journal
  // notes the next name before the file gets it.
  std::string next_unfinished_path(const FileState& state);
  void commit_file(const std::string& path, const FileState& state);
  void write_opening();
  // Writes the rounds of barriers by which the clocks of ranks are compared; `group` is "start" or
  // "end".
  void write_rounds(const SyncRounds& rounds, const char* group);
  void write_closing(std::uint64_t dropped);
  void end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped);
  void finish_json(const Position& position);
  void save(const Position& position, std::uint64_t dropped);
  CycleInfo cycle() const { return {sizeof(CycleInfo), options_.rank, number_, path_.c_str()}; }
  std::string counts_json(std::uint64_t dropped) const;
  std::vector<MetadataEvent> last_metadata(const std::string& pairs, const std::string& counts,
                                           std::int64_t at_ns) const;

  const SessionOptions& options_;
  StatusBoard& status_;
  Journal* journal_;
  std::uint32_t main_tid_;
  std::uint64_t first_ticks_;  // start of the session
  TimeLine line_;
  bool is_clock_error_told_ = false;
  HandlerList handlers_;
  ChunkPool& pool_;
  EventFeeder feeder_;
  std::map<std::uint32_t, EventThread> threads_;
  std::set<std::uint32_t> named_threads_;  // threads named in the file
  // The events of the cycle, and those of them that are not in the file.
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t told_events_ = 0;  // part of both that is in the status
  std::uint64_t told_lost_ = 0;
  std::uint64_t dropped_before_ = 0;  // dropped events that earlier files have reported
  bool is_left_out_told_ = false;     // reported in this cycle
  bool is_label_loss_told_ = false;   // reported in this session
  std::vector<Journal::Written> written_;
  std::vector<detail::ChunkHeader*> done_;

  std::uint64_t file_ticks_;  // start of the cycle that is open, or comes next
  bool is_open_ = false;
  // The open cycle had no begin_cycle: it takes what ended after the last one.
  bool is_rest_ = false;
  std::uint64_t number_ = 0;          // of the cycle
  std::string path_;                  // of its file
  std::string path_at_begin_;         // the path of the cycle if it ended where it began
  std::optional<Position> last_end_;  // the end of the cycle before
  std::set<std::string> own_paths_;   // paths of the files so far, if files may be overwritten
};

}  // namespace traceloom::record
