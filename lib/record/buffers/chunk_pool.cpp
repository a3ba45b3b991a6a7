#include "record/buffers/chunk_pool.h"

#include "record/buffers/registry.h"
#include "record/support/process_support.h"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace traceloom::record {
namespace {

// traceloom_chunk points here if a thread has no chunk: nothing fits in.
detail::ChunkHeader no_chunk{{detail::kChunkSlots}, {kFullChunk}, {0}, 0, 0, {}, 0, {0}};

bool has_chunk() {
  return traceloom_chunk != &no_chunk;
}

// Counts the events of a full chunk that are in no file. Going through its slots is 7 % of what a
// flight recorder costs, so it is done only for chunks that were drained in part.
std::uint64_t count_unwritten(detail::ChunkHeader& chunk) {
  const std::uint32_t committed = chunk.committed.load(std::memory_order_relaxed);
  const std::uint32_t written = chunk.written.load(std::memory_order_relaxed);
  if (written == 0) return committed - chunk.followers;
  std::uint64_t events = 0;
  for (std::uint32_t i = written; i < committed; i += 1U + chunk.slots()[i].more_slots) ++events;
  return events;
}

}  // namespace
}  // namespace traceloom::record

__thread traceloom::record::detail::ChunkHeader* traceloom_chunk = &traceloom::record::no_chunk;

namespace traceloom::record {

ChunkPool& ChunkPool::instance() {
  static ChunkPool* const pool = new ChunkPool;
  return *pool;
}

void ChunkPool::open(const PoolSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  when_full_.store(settings.when_full, std::memory_order_relaxed);
  settings_.bytes = std::max(settings.bytes, detail::kChunkBytes);
  settings_.max_bytes = std::max(settings.max_bytes, settings_.bytes);
  const std::size_t chunks = settings_.max_bytes / detail::kChunkBytes;
  const std::size_t bytes = chunks * detail::kChunkBytes;
  void* memory = settings.memory;
  // Pages that are never touched cost nothing.
  if (memory == nullptr)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  region_ = {static_cast<std::byte*>(memory), [bytes](std::byte* used) { munmap(used, bytes); }};
  free_.clear();
  free_.reserve(chunks);
  live_.reserve(live_.size() + chunks);
  untouched_ = 0;
  used_ = 0;
  peak_ = 0;
  held_.store(0, std::memory_order_relaxed);
  dropped_.store(0, std::memory_order_relaxed);
  session_.fetch_add(1, std::memory_order_relaxed);
  has_room_.store(true, std::memory_order_relaxed);
  is_open_ = true;
}

void ChunkPool::close() {
  const std::lock_guard lock(mutex_);
  is_open_ = false;
  settings_.has_memory = {};
  free_.clear();
  // Makes a thread that records in the next session take a chunk of that: only those are in its
  // journal.
  for (const LiveChunk& live : live_) live.chunk->limit.store(0, std::memory_order_relaxed);
  region_.reset();
  room_->notify_all();
}

bool ChunkPool::is_hopeless(bool is_first_of_thread) const {
  const WhenFull when_full = when_full_.load(std::memory_order_relaxed);
  const bool waits_for_writer =
      when_full == WhenFull::drop ||
      (when_full == WhenFull::ring && held_.load(std::memory_order_relaxed) > 0);
  return waits_for_writer && !is_first_of_thread && !has_room_.load(std::memory_order_relaxed);
}

detail::ChunkHeader* ChunkPool::next(std::uint32_t slots) noexcept {
  ThreadState* thread = this_thread_state();
  if (thread == nullptr) return nullptr;
  if (thread->is_inside) {  // a signal's handler, while the thread is in here
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (slots > detail::kChunkSlots) return nullptr;
  const std::uint64_t session = session_.load(std::memory_order_relaxed);
  const bool is_first = thread->session != session;
  if (!has_chunk() && is_hopeless(is_first)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  thread->is_inside = true;
  std::unique_lock lock(mutex_);
  if (has_chunk()) hand_over(traceloom_chunk);
  traceloom_chunk = &no_chunk;
  detail::ChunkHeader* chunk = is_open_ ? take(is_first) : nullptr;
  if (chunk == nullptr && is_open_ && settings_.when_full == WhenFull::block) {
    const auto give_up =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.block_ms);
    is_woken_ = true;
    work_->notify_one();
    while (chunk == nullptr && is_open_ &&
           room_->wait_until(lock, give_up) == std::cv_status::no_timeout)
      chunk = is_open_ ? take(is_first) : nullptr;
  }
  if (chunk != nullptr) {
    chunk->tid = thread->tid;
    pthread_getname_np(pthread_self(), chunk->thread_name, sizeof chunk->thread_name);
    thread->session = session;
    traceloom_chunk = chunk;
  } else if (is_open_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  thread->is_inside = false;
  return chunk;
}

detail::ChunkHeader* ChunkPool::take(bool is_first_of_thread) {
  detail::ChunkHeader* chunk = nullptr;
  // Chunks that threads fill do not wait for the writer: they count against the higher limit alone.
  const bool has_few_full = full_ * detail::kChunkBytes < settings_.bytes;
  const std::size_t most = settings_.max_bytes / detail::kChunkBytes;
  if (!free_.empty()) {
    chunk = free_.back();
    free_.pop_back();
  } else if (untouched_ < most && (is_first_of_thread || has_few_full)) {
    if (!settings_.has_memory || settings_.has_memory(untouched_ + 1))
      chunk = new (region_.get() + untouched_++ * detail::kChunkBytes) detail::ChunkHeader{};
    else
      settings_.max_bytes = untouched_ * detail::kChunkBytes;  // to ask again costs too much
  } else if (settings_.when_full == WhenFull::ring) {
    chunk = take_oldest();
  }
  has_room_.store(!free_.empty() || (has_few_full && untouched_ < most), std::memory_order_relaxed);
  if (chunk == nullptr) return nullptr;
  // A recovery of the journal must not take old slots for new ones: counts come first, the state
  // last.
  chunk->committed.store(0, std::memory_order_relaxed);
  chunk->written.store(0, std::memory_order_relaxed);
  chunk->followers = 0;
  chunk->limit.store(detail::kChunkSlots, std::memory_order_relaxed);
  chunk->sequence = next_sequence_++;
  chunk->state.store(kActiveChunk, std::memory_order_release);
  live_.push_back({chunk, region_, false});
  peak_ = std::max(peak_, ++used_);
  return chunk;
}

detail::ChunkHeader* ChunkPool::take_oldest() {
  if (held_.load(std::memory_order_relaxed) > 0) return nullptr;
  for (auto live = live_.begin(); live != live_.end(); ++live) {
    detail::ChunkHeader* const chunk = live->chunk;
    if (live->is_being_read || live->region != region_ ||
        chunk->state.load(std::memory_order_relaxed) != kFullChunk)
      continue;
    dropped_.fetch_add(count_unwritten(*chunk), std::memory_order_relaxed);
    chunk->state.store(kFreeChunk, std::memory_order_release);
    live_.erase(live);
    --used_;
    --full_;
    return chunk;
  }
  return nullptr;
}

void ChunkPool::hand_over(detail::ChunkHeader* chunk) {
  chunk->state.store(kFullChunk, std::memory_order_release);
  ++full_;
  // Waking the writer is a system call: once an eighth of the pool is full is soon enough. A flight
  // recorder's writer has nothing to do.
  if (settings_.when_full == WhenFull::ring) return;
  constexpr std::size_t kShare = 8;
  if (full_ * kShare * detail::kChunkBytes < settings_.bytes) return;
  is_woken_ = true;
  work_->notify_one();
}

void ChunkPool::hand_over_own() noexcept {
  if (!has_chunk()) return;
  const std::lock_guard lock(mutex_);
  hand_over(traceloom_chunk);
  traceloom_chunk = &no_chunk;
}

std::vector<LiveChunk> ChunkPool::begin_drain() {
  const std::lock_guard lock(mutex_);
  for (LiveChunk& live : live_) live.is_being_read = true;
  return live_;
}

void ChunkPool::end_drain(const std::vector<detail::ChunkHeader*>& done) {
  const std::lock_guard lock(mutex_);
  for (LiveChunk& live : live_) live.is_being_read = false;
  for (detail::ChunkHeader* chunk : done) {
    const auto live = std::find_if(live_.begin(), live_.end(),
                                   [&](const LiveChunk& l) { return l.chunk == chunk; });
    if (live == live_.end()) continue;
    chunk->state.store(kFreeChunk, std::memory_order_release);
    --full_;
    if (live->region == region_) {
      --used_;
      free_.push_back(chunk);
      has_room_.store(true, std::memory_order_relaxed);
    }
    live_.erase(live);
  }
  if (!done.empty()) room_->notify_all();
}

void ChunkPool::wait_for_work(unsigned milliseconds) {
  std::unique_lock lock(mutex_);
  work_->wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return is_woken_; });
  is_woken_ = false;
}

// Takes the lock, so that no thread is taking the oldest chunk.
void ChunkPool::hold() {
  const std::lock_guard lock(mutex_);
  held_.fetch_add(1, std::memory_order_relaxed);
}

void ChunkPool::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  work_->notify_one();
}

std::size_t ChunkPool::peak_bytes() {
  const std::lock_guard lock(mutex_);
  return peak_ * detail::kChunkBytes;
}

bool ChunkPool::is_half_full() {
  const std::lock_guard lock(mutex_);
  const auto full = static_cast<std::size_t>(
      std::count_if(live_.begin(), live_.end(), [this](const LiveChunk& live) {
        return live.region == region_ &&
               live.chunk->state.load(std::memory_order_relaxed) == kFullChunk;
      }));
  return 2 * full * detail::kChunkBytes >= settings_.bytes;
}

void ChunkPool::forget_session() {
  traceloom_chunk = &no_chunk;
  is_open_ = false;
  free_.clear();
  live_.clear();
  full_ = 0;
  region_.reset();  // the parent goes on writing to shared memory, and the child's threads are gone
  // The condition variables of the parent are leaked: threads that do not exist here may wait on
  // them.
  keep_forever(room_.release());
  keep_forever(work_.release());
  room_ = std::make_unique<std::condition_variable>();
  work_ = std::make_unique<std::condition_variable>();
}

namespace {

constexpr std::size_t kUsualNesting = 64;

__thread ThreadState* state = nullptr;

void end_thread(void* /*state*/) {
  ChunkPool::instance().hand_over_own();
  delete state;
  state = nullptr;
}

// A pthread_key serves better than thread_local: its destructors come last, and run again if
// another one has recorded.
pthread_key_t exit_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, end_thread);
    return made;
  }();
  return key;
}

}  // namespace

ThreadState* this_thread_state() noexcept {
  if (state != nullptr) return state;
  try {
    auto* made = new ThreadState;
    made->open.reserve(kUsualNesting);
    made->tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    state = made;
    pthread_setspecific(exit_key(), made);
  } catch (...) {
    return nullptr;
  }
  return state;
}

void forget_thread_after_fork() noexcept {
  if (state != nullptr) state->tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
}

}  // namespace traceloom::record
