// begin(), end(), put(): what the inline functions of markers, scopes and counters need; programs
// do not call them. A thread puts each event as one slot, or a few, into a chunk of its own, where
// the writer finds it.
//
//   const OpenSpan span = begin(site);   // what a Scope does
//   end(span);                           // now a Slot is in this_chunk
//
// put() takes a lock only if it needs a new chunk: once in 2046 events.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <time.h>
#include <type_traits>

#pragma GCC visibility push(default)

namespace traceloom::record::detail {

inline constexpr std::uint32_t kOff = 0;
inline constexpr std::uint32_t kInline = 1;
inline constexpr std::uint32_t kOutOfLine =
    2;  // for rare kinds, or without the processor's counter

struct Site {
  std::atomic<std::uint32_t> mode{kOff};
  std::uint32_t id = 0;
  std::atomic<bool> is_inline{false};  // kept while it is off, for spans that began before
};
extern Site unregistered_site;

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
enum class ArgKind : std::uint8_t { none, integer, number, text };
struct Arg {
  char bytes[30];  // an int64, a double, or text
  std::uint8_t size;
  ArgKind kind;
};
static_assert(sizeof(Arg) == sizeof(Slot));
inline constexpr std::size_t kMostArgs = 8;

// Takes an integer, a floating number, or a text, of which it keeps 30 bytes.
template <typename Value>
Arg arg_of(const Value& value) noexcept {
  Arg arg;
  if constexpr (std::is_arithmetic_v<Value>) {
    constexpr bool kIsWhole = std::is_integral_v<Value>;
    const auto number = static_cast<std::conditional_t<kIsWhole, std::int64_t, double>>(value);
    std::memcpy(arg.bytes, &number, sizeof number);
    arg.size = sizeof number;
    arg.kind = kIsWhole ? ArgKind::integer : ArgKind::number;
  } else {
    const std::string_view text(value);
    arg.size =
        static_cast<std::uint8_t>(text.size() < sizeof arg.bytes ? text.size() : sizeof arg.bytes);
    std::memcpy(arg.bytes, text.data(), arg.size);
    arg.kind = ArgKind::text;
  }
  return arg;
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

// The chunk of this thread; never null: a thread without a chunk has a full one. This TLS model
// saves 3 ns an event within a shared library, and takes eight bytes of what the loader reserves
// for libraries that come late.
extern __thread ChunkHeader* this_chunk __attribute__((tls_model("initial-exec")));
extern std::atomic<bool> clock_is_tsc;
extern std::atomic<std::uint64_t> position;  // epoch << 32 | batch
// The position at the end of the epoch before the present one, or no position.
extern std::atomic<std::uint64_t> end_of_epoch;

// Returns a chunk with room for `slots`, now this_chunk; nullptr if the event has to be dropped.
ChunkHeader* next_chunk(std::uint32_t slots) noexcept;

// Works only if clock_is_tsc.
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

inline std::uint64_t now() noexcept {
  if (clock_is_tsc.load(std::memory_order_relaxed)) return read_counter();
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

inline void put(const Slot& slot) noexcept {
  ChunkHeader* chunk = this_chunk;
  std::uint32_t count = chunk->committed.load(std::memory_order_relaxed);
  if (count >= chunk->limit.load(std::memory_order_relaxed)) {
    chunk = next_chunk(1);
    if (chunk == nullptr) return;
    count = chunk->committed.load(std::memory_order_relaxed);
  }
  chunk->slots()[count] = slot;
  chunk->committed.store(count + 1, std::memory_order_release);
}

// A duration that has begun; it is not recorded if begin_ticks is 0.
struct OpenSpan {
  const Site* site = nullptr;
  std::uint64_t begin_ticks = 0;
  std::uint64_t position = 0;
};

// The functions take numbers and not an OpenSpan, which would have to lie in memory for them.
std::uint64_t begin_out_of_line(Site& site, std::uint64_t at) noexcept;
void end_out_of_line(const Site& site, std::uint64_t begin_ticks, std::uint64_t at) noexcept;
void push_open(Site& site) noexcept;  // start() and finish()
void pop_open(Site& site) noexcept;
// Counts a span that its epoch lacks: it began before the position of the epoch was known.
void count_early(const Site* site) noexcept;
void put_counter(Site& site, const double* values, std::size_t count) noexcept;
// Does what end() does, with arguments; the label says how many it has.
void end_with(OpenSpan span, const Arg* args, std::size_t count) noexcept;
// Puts an event of any other kind but a counter; `first`: see Kind::measured.
void put_with(const Site& site, Kind kind, std::uint64_t value, const Arg* first, const Arg* args,
              std::size_t count) noexcept;

// Spans are passed by value throughout, so that they stay in registers.
inline OpenSpan begin(Site& site) noexcept {
  const std::uint32_t mode = site.mode.load(std::memory_order_relaxed);
  const std::uint64_t at = position.load(std::memory_order_relaxed);
  if (mode == kOff) return {&site, 0, at};
  return {&site, mode == kInline ? read_counter() : begin_out_of_line(site, at), at};
}

inline void end(OpenSpan span) noexcept {
  if (span.begin_ticks == 0) {
    if (span.position == end_of_epoch.load(std::memory_order_relaxed)) count_early(span.site);
    return;
  }
  if (!span.site->is_inline.load(std::memory_order_relaxed))
    return end_out_of_line(*span.site, span.begin_ticks, span.position);
  put({span.begin_ticks, read_counter() - span.begin_ticks, span.position, span.site->id,
       Kind::whole, 0, 0});
}

}  // namespace traceloom::record::detail

#pragma GCC visibility pop
