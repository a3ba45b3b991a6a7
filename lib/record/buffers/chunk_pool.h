// The memory that threads record into (ChunkPool), and what the recorder keeps of each thread
// (ThreadState).
#pragma once

#include "record/session.h"
#include "record/slots.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace traceloom::record {

// ChunkPool: the memory that threads record into, handed out in chunks of 64 KiB.
//
//   pool.open({.bytes = 8 << 20, ...});
//   ... threads fill chunks: detail::put() ...
//   for (const LiveChunk& live : pool.begin_drain()) read(*live.chunk);
//   pool.end_drain(chunks_that_are_done);
//
// A process has one pool, which is never destroyed. A thread asks for a chunk once in 2046 events;
// nothing else in recording takes a lock. Chunks of an earlier session stay valid as long as a
// thread has one: the thread gives it up when it records again.

enum ChunkState : std::uint32_t {
  kFreeChunk = 0,
  kActiveChunk = 1,  // its owner may add to it
  kFullChunk = 2,    // nobody adds to it any more
};

// One mapping, cut into chunks. It goes with its last chunk.
using ChunkRegion = std::shared_ptr<std::byte>;

struct LiveChunk {
  detail::ChunkHeader* chunk = nullptr;
  ChunkRegion region;
  bool is_being_read = false;
};

struct PoolSettings {
  std::size_t bytes = 0;      // limit for chunks that are full; a thread's first chunk is above it
  std::size_t max_bytes = 0;  // limit for all
  WhenFull when_full = WhenFull::drop;
  unsigned block_ms = 0;
  // The memory of the chunks, which belongs to the pool from now on; null: the pool maps its own.
  std::byte* memory = nullptr;
  // Asked before a chunk of `memory` is used for the first time: whether so many chunks have
  // memory. The pool keeps it until close(); null: all have.
  std::function<bool(std::size_t chunks)> has_memory = {};
};

class ChunkPool {
 public:
  static ChunkPool& instance();

  // Throws std::bad_alloc.
  void open(const PoolSettings& settings);
  // Stops giving out chunks; what has been recorded can still be read.
  void close();

  // For threads: gives the thread a chunk of its own with room for `slots`, in traceloom_chunk.
  // Returns nullptr if there is none.
  detail::ChunkHeader* next(std::uint32_t slots) noexcept;
  // Gives up the thread's chunk, if it has one: nothing will be added to it.
  void hand_over_own() noexcept;

  // For the writer: returns all chunks in use, in the order in which threads got them. They are not
  // reused until end_drain() says which of them are done with.
  std::vector<LiveChunk> begin_drain();
  void end_drain(const std::vector<detail::ChunkHeader*>& done);
  // Keeps a ring from overwriting anything until release(): what has been recorded waits for the
  // writer. Each hold() needs its release().
  void hold();
  void release() { held_.fetch_sub(1, std::memory_order_relaxed); }
  // Sleeps until chunks have filled up, wake() is called or `milliseconds` have passed.
  void wait_for_work(unsigned milliseconds);
  void wake();

  // The counts are those of the session.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  std::size_t peak_bytes();
  bool is_half_full();
  const std::byte* memory() const { return region_.get(); }

  // For use around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // Called in the child of a fork(), with the lock held: its thread has no chunk, and none are
  // given out.
  void forget_session();

 private:
  ChunkPool() = default;
  detail::ChunkHeader* take(bool is_first_of_thread);
  detail::ChunkHeader* take_oldest();
  void hand_over(detail::ChunkHeader* chunk);
  bool is_hopeless(bool is_first_of_thread) const;

  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> room_ = std::make_unique<std::condition_variable>();
  std::unique_ptr<std::condition_variable> work_ = std::make_unique<std::condition_variable>();
  bool is_open_ = false;
  bool is_woken_ = false;
  PoolSettings settings_;
  // Copy of settings_.when_full, for a look without the lock.
  std::atomic<WhenFull> when_full_{WhenFull::drop};
  ChunkRegion region_;
  std::vector<detail::ChunkHeader*> free_;  // the last used one is last: it is still in the cache
  std::size_t untouched_ = 0;               // from here on, chunks of the region were never used
  std::vector<LiveChunk> live_;
  std::size_t full_ = 0;  // number of full ones in live_
  std::size_t used_ = 0;  // number of those of region_ in live_
  std::size_t peak_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::atomic<bool> has_room_{false};  // a look at it saves the lock when all is full
  std::atomic<unsigned> held_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> session_{0};
};

// ThreadState: what the recorder keeps of a thread besides its chunk.

struct ThreadState {
  std::uint32_t tid = 0;
  std::uint64_t session = 0;           // the one in which it had a chunk
  bool is_inside = false;              // keeps out a signal handler that records meanwhile
  std::vector<detail::OpenSpan> open;  // started by Marker::start(), also unrecorded ones
};

// Returns the state of the calling thread, and makes it if there is none; nullptr without memory.
// It is freed when the thread ends, and made anew for what records even later.
ThreadState* this_thread_state() noexcept;
// Called in the child of a fork(): its only thread has another id.
void forget_thread_after_fork() noexcept;

}  // namespace traceloom::record
