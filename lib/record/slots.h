// begin(), end(): the short way of markers and scopes, which calls no function of traceloom.h where
// it need not; programs do not call them. A thread puts each event as one slot, or a few, into a
// chunk of its own, where the writer finds it.
//
//   const OpenSpan span = begin(site);   // what a Scope does
//   end(span);                           // now a Slot is in traceloom_chunk
//
// end() takes a lock only if it needs a new chunk: once in 2046 events.
#pragma once

#include "record/traceloom.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

// Names as C has them. NOLINTBEGIN(readability-identifier-naming)

// The part of a marker, and of a counter, that its uses need.
struct traceloom_marker {
  std::atomic<std::uint32_t> mode{0};  // kOff, kInline or kOutOfLine
  std::uint32_t id = 0;
  std::atomic<bool> is_inline{false};  // kept while it is off, for spans that began before
};

struct traceloom_counter : traceloom_marker {};

// NOLINTEND(readability-identifier-naming)

namespace traceloom::record::detail {

inline constexpr std::uint32_t kOff = 0;
inline constexpr std::uint32_t kInline = 1;
inline constexpr std::uint32_t kOutOfLine =
    2;  // for rare kinds, or without the processor's counter

using Site = traceloom_marker;

enum class Kind : std::uint8_t {
  none,
  whole,
  begin,
  end,
  instant,
  counter,
  measured,     // lasts `value` ns; the first slot after it is its begin, an Arg on CLOCK_MONOTONIC
  async_begin,  // `value` is the id of the async span
  async_end
};

// One event as a thread leaves it for the writer.
struct Slot {
  std::uint64_t time;   // ticks
  std::uint64_t value;  // ticks that it lasted; first value of a counter
  std::uint64_t extra;  // position; second value of a counter
  std::uint32_t site;
  Kind kind;
  std::uint8_t value_count;  // for a counter; args of any other event, each in a slot after it
  std::uint16_t more_slots;  // following slots that belong to it
};
static_assert(sizeof(Slot) == 32);

// An argument of an event, in a slot of its own.
using Arg = traceloom_arg;
static_assert(sizeof(Arg) == sizeof(Slot));
inline constexpr std::size_t kMostArgs = 8;

// Takes an integer, a floating number, or a text, of which it keeps 30 bytes.
template <typename Value>
Arg arg_of(const Value& value) noexcept {
  if constexpr (std::is_integral_v<Value>) {
    return traceloom_integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    return traceloom_number(static_cast<double>(value));
  } else {
    const std::string_view text(value);
    return traceloom_text_of(text.data(), text.size());
  }
}

inline constexpr std::size_t kChunkBytes = 65536;
inline constexpr std::uint32_t kChunkSlots = kChunkBytes / sizeof(Slot) - 2;

// Stands before the slots that one thread fills. Zero bytes are a free chunk.
struct alignas(64) ChunkHeader {
  std::atomic<std::uint32_t>
      committed;  // slots that the writer may read; the owner alone changes it
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> written;  // slots that are in the file
  std::uint32_t tid;
  std::uint64_t sequence;
  char thread_name[16];
  // Slots so far that belong to one before them: Slot::more_slots.
  std::uint32_t followers;
  std::atomic<std::uint32_t> limit;  // slots for its owner; 0 once its session has been closed

  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
};
static_assert(sizeof(ChunkHeader) == 64);

}  // namespace traceloom::record::detail

// begin() and end() read these. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
// Stands for a marker that has not been registered, or could not be.
extern TRACELOOM_API traceloom_marker traceloom_unregistered;
// The chunk of this thread; never null: a thread without a chunk has a full one. This TLS model
// saves 3 ns an event within a shared library, and takes eight bytes of what the loader reserves
// for libraries that come late.
extern TRACELOOM_API __thread traceloom::record::detail::ChunkHeader* traceloom_chunk
    __attribute__((tls_model("initial-exec")));
extern TRACELOOM_API std::atomic<std::uint64_t> traceloom_events_at;  // epoch << 32 | batch
// The position at the end of the epoch before the present one, or no position.
extern TRACELOOM_API std::atomic<std::uint64_t> traceloom_epoch_ended_at;
}
// NOLINTEND(readability-identifier-naming)

namespace traceloom::record::detail {

// Works only where the clock is the processor's counter, as it is for kInline.
inline std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

// A duration that has begun; it is not recorded if begin_ticks is 0.
struct OpenSpan {
  Site* site = nullptr;
  std::uint64_t begin_ticks = 0;
  std::uint64_t position = 0;
};

inline OpenSpan begin(Site& site) noexcept {
  const std::uint32_t mode = site.mode.load(std::memory_order_relaxed);
  const std::uint64_t at = traceloom_events_at.load(std::memory_order_relaxed);
  if (mode == kOff) return {&site, 0, at};
  return {&site, mode == kInline ? read_counter() : traceloom_begin(&site).begin, at};
}

// Returns false for what traceloom_end() has to do: a full chunk, a rare kind, or a span that its
// epoch lacks, because it began before the position of that was known.
inline bool end_inline(Site* site, std::uint64_t begin_ticks, std::uint64_t at) noexcept {
  if (begin_ticks == 0) return at != traceloom_epoch_ended_at.load(std::memory_order_relaxed);
  ChunkHeader* const chunk = traceloom_chunk;
  const std::uint32_t count = chunk->committed.load(std::memory_order_relaxed);
  if (!site->is_inline.load(std::memory_order_relaxed) ||
      count >= chunk->limit.load(std::memory_order_relaxed))
    return false;
  chunk->slots()[count] = {
      begin_ticks, read_counter() - begin_ticks, at, site->id, Kind::whole, 0, 0};
  chunk->committed.store(count + 1, std::memory_order_release);
  return true;
}

// It takes a reference because gcc 12 warns of a copy where a Scope is in a std::optional: the span
// may be uninitialized.
inline void end(const OpenSpan& span) noexcept {
  if (!end_inline(span.site, span.begin_ticks, span.position))
    traceloom_end(span.site, {span.begin_ticks, span.position});
}

}  // namespace traceloom::record::detail
