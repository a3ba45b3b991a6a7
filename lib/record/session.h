// Session: writes what is recorded while it lives, as one file a cycle; and what it may be told.
//
//   Options options;
//   options.rank = rank;
//   Session session(options);
//   ... session.batch_begin(position); train(); session.batch_end(position); ...
//   session.close();                          // all files are complete
//
// Nothing but the constructor throws because of what happens to a trace; for a program that trains
// whatever becomes of that there is Session::open().
#pragma once

#include "record/position.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace traceloom::record {
class Engine;  // what is behind a Session
}

#pragma GCC visibility push(default)

namespace traceloom::record {

class TraceHandler;  // trace_handler.h

// What happens to events when the threads are faster than the disk.
enum class WhenFull : std::uint8_t {
  drop,   // new events are not recorded until there is room again; how many is written in the file
  ring,   // old ones make room for new ones, and only a save writes: a flight recorder
  block,  // the thread waits for room, up to Options::block_ms, and then drops
};

enum class ClockChoice : std::uint8_t {
  // The processor's counter where the kernel keeps time by it, itself or through a page of its
  // hypervisor's (kvm-clock), else CLOCK_MONOTONIC.
  automatic,
  monotonic,
  // The counter wherever the processor says that it runs at one speed.
  tsc,
};

// A file that is complete.
struct SavedTrace {
  Position position;          // at its end
  std::string path;           // "" where none could be made
  std::uint64_t events = 0;   // without metadata
  std::uint64_t dropped = 0;  // and those that found no room while it was recorded
};

struct Options {
  // -1: as the launcher says in the environment (torchrun, MPI, Slurm; run_place.h), of the process
  // whose rank this is. Where none says it a rank is written as 0, and a size is not known, as when
  // it is given as 0.
  std::int64_t rank = -1;
  std::int64_t local_rank = -1;
  std::int64_t node_rank = -1;
  std::int64_t world_size = -1;
  std::int64_t local_world_size = -1;
  // Of a process beside the one that is the rank: a watcher, a worker. Its traces may be of the
  // same time as the rank's own, where trace-merge refuses two that say one rank. A child that
  // fork() made while a session was open is one.
  bool is_beside_rank = false;

  // `folder` may have the placeholders that are known from the start: "{run_name}/traces", with
  // {rank}, {node_rank} and so on (name_template.h). Files are named `folder`/`file_name(position
  // at the end of the cycle)`; without a function "ep{epoch}-ba{batch}-rank{rank}.json". A name
  // that ends in .gz is compressed. Folders are created. A name that exists already gets a number:
  // "rank0-2.json".
  std::string folder = "traces";
  std::function<std::string(const Position&)> file_name;
  int gzip_level = 1;  // 0 to 9
  // Otherwise a folder with a file of this rank in it (of any rank, when there is a barrier) is an
  // error; files that begin with '.' do not count.
  bool overwrite = false;
  std::int64_t num_traces_to_keep = -1;  // the newest of this session; -1: all

  // Without one, everything is recorded from the constructor to close().
  Schedule schedule;
  Position start;  // other than 0 for a run that is resumed

  // Returns when all ranks have called it. Called by the thread that calls the session: once in the
  // constructor, `sync_rounds` times at the beginning of each cycle and, with sync_at_end, at its
  // end. From its times trace-merge knows how the ranks' clocks differ. None: no clock sync.
  std::function<void()> barrier;
  unsigned sync_rounds = 16;
  bool sync_at_end = true;

  std::size_t pool_bytes = std::size_t{8} << 20;
  std::size_t max_pool_bytes = std::size_t{64} << 20;  // for the first chunk of very many threads
  WhenFull when_full = WhenFull::drop;
  unsigned block_ms = 10;
  unsigned flush_ms = 100;  // what a killed process loses at most; nothing with a journal
  // Where the pool is a file, so that events survive the death of the process; on the node itself
  // (not NFS), for example /dev/shm. Empty: none. What an earlier session of this user and rank
  // with this `folder` left there is taken up by the constructor; so does `trace-merge --recover`.
  std::string journal_folder;

  ClockChoice clock = ClockChoice::automatic;
  bool write_json = true;  // the files above; without, only `handlers` get the events
  std::vector<std::shared_ptr<TraceHandler>> handlers;
  std::function<void(const std::string&)> log;  // one line, without its end; any thread
  // In the writer's thread, where nothing of the session waits, and close() does nothing; the
  // session must not be destroyed there. The file is there; num_traces_to_keep deletes behind it.
  std::function<void(const SavedTrace&)> on_saved;
};

struct Status {
  std::uint64_t events = 0;   // handed to the files and handlers so far
  std::uint64_t dropped = 0;  // found no room
  std::uint64_t lost = 0;     // recorded, but not in a file: it could not be written, or not this
  std::uint64_t misuses = 0;  // finish() without start()
  std::uint64_t bytes = 0;    // written, as they are on disk
  std::size_t peak_pool_bytes = 0;
  std::string clock;       // "tsc" or "monotonic"
  std::string last_error;  // empty: none
};

// Records while it lives. One at a time in a process; in a child made by fork() it is closed, and a
// new one may be opened there. batch_begin(), batch_end(), set_position() and close() are for one
// thread; the others for any.
class Session {
 public:
  // Throws std::runtime_error when the folder cannot be written, is not empty, or another session
  // is open, and std::invalid_argument for options that cannot be, also where a variable of the
  // launcher is no number.
  explicit Session(Options options);
  // Never throws. What the constructor refuses becomes a session that is not is_open(): it writes
  // nothing, but follows the schedule and meets at the barrier, so that other ranks do not wait for
  // this one. status().last_error says why, and the log.
  static Session open(Options options) noexcept;
  // close(), but without its barrier: this may be an exception on one rank only.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // In front of each batch: begins a cycle when the schedule wants this batch and none is open.
  void batch_begin(const Position& position);
  // Behind each batch, with what is completed now: ends the cycle when the schedule wanted it saved
  // behind this batch. The file is cut here and written by another thread. From here on the
  // schedule's word for the next batch holds. Behind the last one of an epoch (epoch_batches) there
  // is none: nothing begins to be recorded until a position of the next epoch comes, and the file
  // is cut `flush_ms` later, or when that position or close() comes, so that what lasts as long as
  // the epoch is in it.
  void batch_end(const Position& position);
  // Elsewhere, as at the end of an epoch.
  void set_position(const Position& position);
  Action action() const;
  // False for one that was refused, that has been closed, and in the child of a fork().
  bool is_open() const;

  // Takes the trace of another profiler into the file of the cycle: its pids become the rank, its
  // times get the same base, and what is no strict JSON is mended and told. Plain or .gz, an object
  // or a list, closed or not. The writer's thread reads the file; it must stay as it is until then.
  void record_chrome_json_trace_file(const std::string& path);

  // Waits until all that this thread has recorded is in the file (or in the cache of the system);
  // with WhenFull::ring only a save writes, and with no cycle open nothing can be written yet.
  void flush();
  // Waits until all cycles that have ended are complete files. False after `timeout_ms`.
  bool wait_saved(unsigned timeout_ms);
  std::vector<SavedTrace> saved_traces() const;  // that still exist, oldest first
  Status status() const;

  // Ends an open cycle, with its clock sync, and waits for the files. Once; later calls do nothing.
  // Returns the last status(): what is lost, and why.
  Status close();

 private:
  struct Refusal {
    std::string why;
  };
  Session(Refusal refusal, Options options) noexcept;
  Engine* engine() const;

  std::string refusal_;
  std::shared_ptr<Engine> engine_;
};

// The name that the trace shows for this thread; otherwise that of the system.
void set_thread_name(const std::string& name);

}  // namespace traceloom::record

#pragma GCC visibility pop
