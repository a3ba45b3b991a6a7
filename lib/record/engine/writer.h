// Writer: the thread that hands recorded events to the handlers, and begins and ends cycles.
//
//   Writer writer(options, clock_pair);
//   writer.send({Command::Kind::begin_cycle, position, rounds});
//   ...
//   writer.wait(writer.send({Command::Kind::end_cycle, position, rounds}));
//
// It takes slots out of chunks that are still being filled, so no thread has to help it.
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/buffers/clock_sync.h"
#include "record/files/event_feeder.h"
#include "record/files/json_sink.h"
#include "record/journal/journal.h"
#include "record/names/kept_traces.h"
#include "record/session.h"
#include "record/trace_handler.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
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
  std::uint64_t ticks = 0;    // when it was sent; set by send()
  std::uint64_t dropped = 0;  // dropped in the session by then

  bool ends_cycle() const { return kind == Kind::end_cycle || kind == Kind::stop; }
};

// Returns the text of the exception that is being handled; a program's callbacks may throw
// anything.
std::string current_problem();
// Returns the same without the file that it was about.
std::string current_reason();

class Writer {
 public:
  // Starts the thread. `options` must outlive the writer.
  Writer(const Options& options, const ClockPair& start, std::uint32_t main_tid,
         std::unique_ptr<Journal> journal);
  ~Writer();  // needs a stop command before
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // May be called by any thread. Returns the command's number. After a stop, no command is taken
  // any more, and the number of the stop is returned.
  std::uint64_t send(Command command);
  // Waits until the command with that number, and all before it, are done, or until the thread has
  // ended. Returns false after `timeout_ms`.
  bool wait(std::uint64_t number, unsigned timeout_ms);
  void wait(std::uint64_t number);
  std::uint64_t last_end_of_cycle() const;
  // Returns whether this thread is a writer's own, in which nothing is waited for.
  static bool is_own_thread();

  std::vector<SavedTrace> saved_traces() const;
  Status status() const;
  // Called in the child of a fork(): there is no thread here.
  void forget();

 private:
  struct Handler {
    std::shared_ptr<TraceHandler> handler;
    bool has_failed = false;  // in this cycle
  };

  void leave_journal();
  void run();
  void keep_time();
  void check_clock(const ClockPair& pair);
  void execute(const Command& command);
  void execute_all(const std::vector<Command>& commands);
  void cut_held(std::uint64_t ticks);
  void cut_held_in_time();
  void finish_one(bool is_stop);
  void take_external_trace(const std::string& path);
  void begin_cycle(const Position& position);
  void end_cycle(const Command& command);
  void cut_open_slices(std::uint64_t at_ticks);
  void finish_json(const Position& position);
  void save(const Position& position, std::uint64_t dropped);
  void write_opening();
  void write_closing(std::uint64_t dropped);
  void end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped);
  std::string counts_json(std::uint64_t dropped) const;
  void tell_counts();
  void write_rounds(const SyncRounds& rounds, const char* group, bool with_value);
  void metadata(const char* name, const std::string& args, std::int64_t at_ns, std::int64_t tid);
  void drain(std::uint64_t up_to_ticks);
  void drain_idle();
  std::uint32_t drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks);
  bool has_waiting_events();
  void flush();
  JournalLayout::CycleCounts cycle_counts() const;
  void check_labels();
  void count_left_out();
  const EventThread& thread_of(const detail::ChunkHeader& chunk);
  template <typename Call>
  void call(const Call& use);
  void fail(Handler& handler, const std::string& what);
  bool holds_ring(const Command& command) const;
  bool is_at_last_end(const Position& position) const;
  std::string next_unfinished_path(const FileState& state);
  std::string path_at(const Position& position);
  std::string final_path_at(const Position& position);
  void tell(const std::string& text);
  void set_error(const std::string& text);

  const Options& options_;
  ChunkPool& pool_;
  std::uint32_t main_tid_;
  std::unique_ptr<Journal> journal_;
  std::uint64_t first_ticks_;  // start of the session
  std::uint64_t file_ticks_;   // start of the cycle that is open, or comes next

  // The thread's own members. Nothing that lives long is on its stack: the child of a fork() has a
  // copy of that memory, and nobody there knows of it.
  std::vector<Command> taken_;   // commands in progress
  std::optional<Command> held_;  // an end with grace that waits
  std::chrono::steady_clock::time_point held_until_;
  TimeLine line_;
  EventFeeder feeder_;
  std::shared_ptr<JsonSink> json_;  // also the first of handlers_; null without files
  std::vector<Handler> handlers_;
  std::map<std::uint32_t, EventThread> threads_;
  std::set<std::uint32_t> named_threads_;  // threads named in the file
  bool is_cycle_open_ = false;
  // The open cycle had no begin_cycle: it takes what ended after the last one.
  bool is_rest_ = false;
  CycleInfo cycle_;
  std::string path_at_begin_;         // the path of the cycle if it ended where it began
  Position position_;                 // the last one that is known
  std::optional<Position> last_end_;  // the end of the cycle before
  std::set<std::string> own_paths_;   // paths of the files so far, if files may be overwritten
  std::uint64_t cycle_events_ = 0;
  std::uint64_t cycle_lost_ = 0;   // cycle_events_ not in the file
  std::uint64_t told_events_ = 0;  // part of both that is in status_
  std::uint64_t told_lost_ = 0;
  std::string json_failure_;         // why nothing more of this cycle is written
  bool is_left_out_told_ = false;    // reported in this cycle
  bool is_label_loss_told_ = false;  // reported in this session
  bool is_clock_told_ = false;
  std::uint64_t dropped_before_ = 0;  // dropped events that earlier files have reported
  std::vector<Journal::Written> written_;
  std::vector<detail::ChunkHeader*> done_;

  mutable std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Command> commands_;
  std::uint64_t sent_ = 0;
  bool is_stop_sent_ = false;
  std::uint64_t finished_number_ = 0;
  std::uint64_t last_end_of_cycle_ = 0;
  bool is_stopped_ = false;
  KeptTraces kept_;
  Status status_;
  std::thread thread_;
};

template <typename Call>
void Writer::call(const Call& use) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      use(*handler.handler);
    } catch (...) {
      fail(handler, current_problem());
    }
  }
}

}  // namespace traceloom::record
