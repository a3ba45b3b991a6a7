// Session, Options: a session writes what is recorded while it lives, as one file a cycle.
//
//   Options options;
//   options.rank = rank;
//   Session session(options);
//   ... session.batch_begin(position); train(); session.batch_end(position); ...
//   session.close();                          // all files are complete
//
// Only the constructor throws because of what happens to a trace. A program that must train
// whatever happens to its traces uses Session::open(). All functions are inline calls of those of
// traceloom.h: an exception of the program's own callbacks passes as a std::runtime_error with its
// text.
#pragma once

#include "record/failure.h"
#include "record/position.h"
#include "record/trace_handler.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::record {

// The choice for events when the threads are faster than the disk.
enum class WhenFull : std::uint8_t {
  drop,   // new events are dropped until there is room again; the file says how many
  ring,   // old events make room for new ones, and only a save writes: a flight recorder
  block,  // the thread waits for room, up to Options::block_ms, and then drops
};

enum class ClockChoice : std::uint8_t {
  // The processor's counter if the kernel keeps time by it, itself or through a page of its
  // hypervisor (kvm-clock), else CLOCK_MONOTONIC.
  automatic,
  monotonic,
  // The counter if the processor says that it runs at one speed.
  tsc,
};

// A file that is complete.
struct SavedTrace {
  Position position;          // at its end
  std::string path;           // "" if none could be made
  std::uint64_t events = 0;   // without metadata
  std::uint64_t dropped = 0;  // found no room while it was recorded
};

struct Options {
  // The place of the process in the run. -1 is what the launcher says in the environment (torchrun,
  // MPI, Slurm) of the process whose rank this is. If no launcher says it, a rank is
  // written as 0, and a size is unknown, as it is when it is given as 0.
  std::int64_t rank = -1;
  std::int64_t local_rank = -1;
  std::int64_t node_rank = -1;
  std::int64_t world_size = -1;
  std::int64_t local_world_size = -1;
  // Set this in a process other than the one that is the rank: a watcher, a worker. trace-merge
  // refuses two files of one time that say one rank, but not if one of them is from such a process.
  // A child that fork() made while a session was open is one.
  bool is_beside_rank = false;

  // `folder` may have the placeholders that are known from the start: "{run_name}/traces", with
  // {rank}, {node_rank} and so on (traceloom.h). Files are named by the position at the end of the
  // cycle: `folder`/`name_template`, or what `file_name` returns. A file whose name ends in .gz or
  // .zst is compressed. Folders are created. A name that exists already gets a number:
  // "rank0-2.json".
  std::string folder = "traces";
  std::string name_template = "ep{epoch}-ba{batch}-rank{rank}.json";
  std::function<std::string(const Position&)> file_name;
  int gzip_level = 1;  // 0 to 9; .zst has zstd's usual level
  // Without this, a folder with a file of this rank in it (of any rank, if there is a barrier) is
  // an error; files that begin with '.' do not count. A process beside the rank may share a folder.
  bool overwrite = false;
  std::int64_t num_traces_to_keep = -1;  // the newest of this session; -1: all

  // Says what is recorded. Without a schedule, it is everything from the constructor to close().
  Schedule schedule;
  Position start;  // not 0 if a run is resumed

  // Returns when all ranks have called it. The thread that calls the session calls it once in the
  // constructor, `sync_rounds` times at the beginning of each cycle and, with sync_at_end, at its
  // end. From the times of these calls trace-merge knows how the ranks' clocks differ. Without a
  // barrier there is no clock sync.
  std::function<void()> barrier;
  unsigned sync_rounds = 16;
  bool sync_at_end = true;

  // The memory for what waits to be written, and the limit with what all threads fill meanwhile, 64
  // KiB each. With a journal, at most 256 MiB.
  std::size_t pool_bytes = std::size_t{8} << 20;
  std::size_t max_pool_bytes = std::size_t{64} << 20;
  WhenFull when_full = WhenFull::drop;
  unsigned block_ms = 10;
  unsigned flush_ms = 100;  // the most that a killed process loses; nothing with a journal
  // The folder of the journal. With one, the pool is a file, so that events survive the death of
  // the process. It has to be on the node itself (not NFS), for example /dev/shm. Empty: no
  // journal. The constructor recovers what an earlier session of this user and rank with this
  // `folder` left there; so does `trace-merge --recover`.
  std::string journal_folder;

  ClockChoice clock = ClockChoice::automatic;
  bool write_json = true;  // write the files above; if false, only `handlers` get the events
  std::vector<std::shared_ptr<TraceHandler>> handlers;
  std::function<void(const std::string&)> log;  // gets one line, without its end; in any thread
  // Called when a file is complete, in the writer's thread. There, nothing of the session waits,
  // close() does nothing, and the session must not be destroyed. The file exists during the call;
  // num_traces_to_keep deletes afterwards.
  std::function<void(const SavedTrace&)> on_saved;
  // A NodeMerger sets these, to be called after on_saved.
  void (*note_saved)(void* arg, const traceloom_saved_trace* trace) = nullptr;
  void* note_saved_arg = nullptr;
};

inline SavedTrace saved_trace_of(const traceloom_saved_trace& trace) {
  return {*trace.at, trace.path, trace.events, trace.dropped};
}

struct Status {
  std::uint64_t events = 0;   // handed to the files and handlers so far
  std::uint64_t dropped = 0;  // found no room
  // Recorded, but in no file: it could not be written, or this event could not.
  std::uint64_t lost = 0;
  // Finishes without a start, and scopes of an epoch that began before its position was known.
  std::uint64_t misuses = 0;
  std::uint64_t bytes = 0;  // written, as stored on disk
  std::size_t peak_pool_bytes = 0;
  std::string clock;       // "tsc" or "monotonic"
  std::string last_error;  // empty: none; cut after 511 bytes
};

namespace detail {

// The options of a session as traceloom_open() takes them. Callbacks use this copy of them, so it
// has to live as long as the session.
class OptionsForC {
 public:
  explicit OptionsForC(Options from) : own_(std::move(from)) {
    set_values();
    set_callbacks();
    for (const std::shared_ptr<TraceHandler>& handler : own_.handlers)
      handlers_.push_back(handler == nullptr ? nullptr : handler->for_c());
    all_.handlers = handlers_.data();
    all_.handler_count = handlers_.size();
  }
  OptionsForC(const OptionsForC&) = delete;
  OptionsForC& operator=(const OptionsForC&) = delete;

  traceloom_options& get() { return all_; }

 private:
  void set_values() {
    all_.rank = own_.rank;
    all_.local_rank = own_.local_rank;
    all_.node_rank = own_.node_rank;
    all_.world_size = own_.world_size;
    all_.local_world_size = own_.local_world_size;
    all_.is_beside_rank = own_.is_beside_rank;
    all_.folder = own_.folder.c_str();
    all_.file_name = own_.name_template.c_str();
    all_.gzip_level = own_.gzip_level;
    all_.overwrite = own_.overwrite;
    all_.num_traces_to_keep = own_.num_traces_to_keep;
    all_.start = &own_.start;
    all_.sync_rounds = own_.sync_rounds;
    all_.sync_at_end = own_.sync_at_end;
    all_.pool_bytes = own_.pool_bytes;
    all_.max_pool_bytes = own_.max_pool_bytes;
    all_.when_full = static_cast<int>(own_.when_full);
    all_.block_ms = own_.block_ms;
    all_.flush_ms = own_.flush_ms;
    all_.journal_folder = own_.journal_folder.c_str();
    all_.clock = static_cast<int>(own_.clock);
    all_.write_json = own_.write_json;
    all_.note_saved = own_.note_saved;
    all_.note_saved_arg = own_.note_saved_arg;
  }

  // A callback is set only if the program has it: without one, the default holds.
  void set_callbacks() {
    all_.schedule_arg = all_.barrier_arg = all_.log_arg = this;
    all_.on_saved_trace_arg = all_.name_file_arg = this;
    if (own_.schedule)
      all_.schedule = [](void* self, const traceloom_position* at) {
        return static_cast<int>(of(self).own_.schedule(*at));
      };
    if (own_.barrier) all_.barrier = [](void* self) { of(self).own_.barrier(); };
    if (own_.log) all_.log = [](void* self, const char* line) { of(self).own_.log(line); };
    if (own_.on_saved)
      all_.on_saved_trace = [](void* self, const traceloom_saved_trace* trace) {
        of(self).own_.on_saved(saved_trace_of(*trace));
      };
    if (own_.file_name)
      all_.name_file = [](void* self, const traceloom_position* at) {
        of(self).name_ = of(self).own_.file_name(*at);
        return of(self).name_.c_str();
      };
  }

  static OptionsForC& of(void* self) { return *static_cast<OptionsForC*>(self); }

  Options own_;
  std::vector<const traceloom_handler*> handlers_;
  std::string name_;  // the last one that was made
  traceloom_options all_ = TRACELOOM_OPTIONS_INIT;
};

}  // namespace detail

// Records while it lives. A process has one session at a time. In a child made by fork() it is
// closed, and a new one may be opened there. One thread must call batch_begin(), batch_end(),
// set_position() and close(); any thread may call the others.
class Session {
 public:
  // Throws std::runtime_error if the folder cannot be written or is not empty, if another session
  // is open, and for impossible options, also if a variable of the launcher is no number.
  explicit Session(Options options) : Session(traceloom_open, std::move(options)) {
    if (session_ == nullptr) detail::fail();
  }
  // Never throws. If the constructor would throw, the session is not is_open(): it writes nothing,
  // but follows the schedule and meets at the barrier, so that other ranks do not wait for this
  // one. status().last_error and the log say why.
  static Session open(Options options) noexcept {
    return Session(traceloom_open_or_follow, std::move(options));
  }
  // Does what close() does, but without its barrier: this may be an exception on one rank only.
  ~Session() { traceloom_free(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Call this before each batch: it begins a cycle if the schedule wants this batch and none is
  // open.
  void batch_begin(const Position& position) { check(traceloom_batch_begin(session_, &position)); }
  // Call this after each batch, with what is completed now: it ends the cycle if the schedule
  // wanted it saved after this batch. The file is cut here and written by another thread. From here
  // on the schedule's answer for the next batch holds.
  //
  // After the last batch of an epoch (epoch_batches) there is no such answer: recording does not
  // begin until a position of the next epoch comes. The file is cut `flush_ms` later, or when that
  // position or close() comes, so that it has events that last as long as the epoch.
  void batch_end(const Position& position) { check(traceloom_batch_end(session_, &position)); }
  // Call this elsewhere: at the begin of an epoch, before its scopes begin.
  void set_position(const Position& position) {
    check(traceloom_set_position(session_, &position));
  }
  Action action() const {
    const int action = traceloom_current_action(session_);
    return action < 0 ? Action::skip : static_cast<Action>(action);
  }
  // Returns false for a session that was refused or has been closed, and in the child of a fork().
  bool is_open() const { return traceloom_is_open(session_) != 0; }

  // Takes the trace of another profiler into the file of the cycle: its pids become the rank, its
  // times get the same base, and what is no strict JSON is repaired and reported. The trace may be
  // plain, .gz or .zst, an object or a list, closed or not. The writer's thread reads the file; it
  // must stay as it is until then.
  void record_chrome_json_trace_file(const std::string& path) {
    check(traceloom_record_chrome_json_trace_file(session_, path.c_str()));
  }

  // Waits until all that this thread has recorded is in the file (or in the cache of the system).
  // With WhenFull::ring only a save writes, and with no cycle open nothing can be written yet.
  void flush() { check(traceloom_flush(session_)); }
  // Waits until all cycles that have ended are complete files. Returns false after `timeout_ms`.
  bool wait_saved(unsigned timeout_ms) { return traceloom_wait_saved(session_, timeout_ms) != 0; }
  // Returns those that still exist, oldest first.
  std::vector<SavedTrace> saved_traces() const {
    std::vector<SavedTrace> traces;
    const auto take = [](void* all, const traceloom_saved_trace* trace) {
      static_cast<std::vector<SavedTrace>*>(all)->push_back(saved_trace_of(*trace));
    };
    check(traceloom_saved_traces(session_, take, &traces));
    return traces;
  }
  Status status() const {
    traceloom_status now = TRACELOOM_STATUS_INIT;
    check(traceloom_get_status(session_, &now));
    return {now.events, now.dropped,         now.lost,  now.misuses,
            now.bytes,  now.peak_pool_bytes, now.clock, now.last_error};
  }

  // Ends an open cycle, with its clock sync, and waits for the files. Later calls do nothing.
  // Returns the last status(): what is lost, and why.
  Status close() {
    check(traceloom_stop(session_));
    return status();
  }

 private:
  Session(traceloom_session* open_session(const traceloom_options*), Options options)
      : options_(std::make_unique<detail::OptionsForC>(std::move(options))),
        session_(open_session(&options_->get())) {}

  static void check(int result) {
    if (result != 0) detail::fail();
  }

  std::unique_ptr<detail::OptionsForC> options_;
  traceloom_session* session_;
};

// Sets the name that the trace shows for this thread; the default is the name that the system has.
inline void set_thread_name(const std::string& name) {
  traceloom_set_thread_name(name.c_str());
}

}  // namespace traceloom::record
