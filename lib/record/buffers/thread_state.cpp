#include "record/buffers/thread_state.h"

#include "record/buffers/chunk_pool.h"
#include "record/buffers/registry.h"
#include "record/session.h"

#include <algorithm>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace traceloom::record {
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

void set_thread_name(const std::string& name) {
  const ThreadState* thread = this_thread_state();
  if (thread != nullptr) Registry::instance().name_thread(thread->tid, name);
}

namespace detail {

void put_instant(Site& site) noexcept {
  put({now(), 0, position.load(std::memory_order_relaxed), site.id, Kind::instant, 0, 0});
}

std::uint64_t begin_out_of_line(Site& site, std::uint64_t at) noexcept {
  const MarkerOptions& options = static_cast<const Label&>(site).options;
  const std::uint64_t begin_ticks = now();
  if (options.long_running) put({begin_ticks, 0, at, site.id, Kind::begin, 0, 0});
  if (options.instant_on_start) put({begin_ticks, 0, at, site.id, Kind::instant, 0, 0});
  return begin_ticks;
}

void end_out_of_line(const Site& site, std::uint64_t begin_ticks, std::uint64_t at) noexcept {
  const MarkerOptions& options = static_cast<const Label&>(site).options;
  const std::uint64_t end_ticks = now();
  put({begin_ticks, end_ticks - begin_ticks, at, site.id,
       options.long_running ? Kind::end : Kind::whole, 0, 0});
  if (options.instant_on_finish)
    put({end_ticks, 0, position.load(std::memory_order_relaxed), site.id, Kind::instant, 0, 0});
}

void push_open(Site& site) noexcept {
  ThreadState* thread = this_thread_state();
  if (thread == nullptr) return;
  try {
    thread->open.push_back({&site, 0, 0});
  } catch (...) {
    return;  // no memory: its finish() will count as misuse
  }
  const OpenSpan span = begin(site);
  if (span.begin_ticks != 0) thread->open.back() = span;
}

void pop_open(Site& site) noexcept {
  ThreadState* thread = this_thread_state();
  if (thread == nullptr) return;
  std::vector<OpenSpan>& open = thread->open;
  const auto found = std::find_if(open.rbegin(), open.rend(),
                                  [&](const OpenSpan& span) { return span.site == &site; });
  if (found == open.rend()) {
    // A marker that found no memory to be registered is nobody's mistake.
    if (&site != &unregistered_site) Registry::instance().count_misuse(static_cast<Label&>(site));
    return;
  }
  const OpenSpan span = *found;
  open.erase(std::next(found).base());
  end(span);
}

void put_counter(Site& site, const double* values, std::size_t count) noexcept {
  count = std::min(count, static_cast<const Label&>(site).key_count);
  if (count == 0) return;
  constexpr std::size_t kFirstValues = 2;
  constexpr std::size_t kValuesPerSlot = sizeof(Slot) / sizeof(double);
  const std::size_t rest = count > kFirstValues ? count - kFirstValues : 0;
  const auto more = static_cast<std::uint32_t>((rest + kValuesPerSlot - 1) / kValuesPerSlot);
  ChunkHeader* chunk = this_chunk;
  std::uint32_t filled = chunk->committed.load(std::memory_order_relaxed);
  if (filled + 1 + more > chunk->limit.load(std::memory_order_relaxed)) {
    chunk = next_chunk(1 + more);
    if (chunk == nullptr) return;
    filled = chunk->committed.load(std::memory_order_relaxed);
  }
  Slot* slot = chunk->slots() + filled;
  *slot = {now(),
           0,
           0,
           site.id,
           Kind::counter,
           static_cast<std::uint8_t>(count),
           static_cast<std::uint16_t>(more)};
  std::copy_n(reinterpret_cast<const char*>(values), std::min(count, kFirstValues) * sizeof(double),
              reinterpret_cast<char*>(&slot->value));
  std::copy_n(reinterpret_cast<const char*>(values + kFirstValues), rest * sizeof(double),
              reinterpret_cast<char*>(slot + 1));
  chunk->followers += more;
  chunk->committed.store(filled + 1 + more, std::memory_order_release);
}

}  // namespace detail
}  // namespace traceloom::record
