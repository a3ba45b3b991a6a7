// The functions of traceloom.h that record: markers, counters, names of threads.
#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock.h"
#include "record/buffers/registry.h"
#include "record/support/c_calls.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom::record;
using namespace traceloom::record::detail;

traceloom_marker traceloom_unregistered;
std::atomic<std::uint64_t> traceloom_events_at{0};
std::atomic<std::uint64_t> traceloom_epoch_ended_at{kNoEpoch};

namespace {

bool is_off(const Site* site) {
  return site == nullptr || site->mode.load(std::memory_order_relaxed) == kOff;
}

// Call this only with a site that is registered.
const Label& label_of(const Site& site) {
  return static_cast<const Label&>(site);
}

Actions actions_of(std::uint32_t bits) {
  constexpr std::uint32_t kAll = TRACELOOM_IN(TRACELOOM_ACTIVE_AND_SAVE + 1) - 1;
  return bits == 0 ? kWhileRecording : Actions(bits & kAll);
}

// Returns room for an event and `more` slots that belong to it, which commit() hands over; nullptr
// if the event has to be dropped.
Slot* slot_with(std::uint32_t more) noexcept {
  ChunkHeader* chunk = traceloom_chunk;
  const std::uint32_t filled = chunk->committed.load(std::memory_order_relaxed);
  if (filled + 1 + more > chunk->limit.load(std::memory_order_relaxed))
    chunk = ChunkPool::instance().next(1 + more);
  return chunk == nullptr ? nullptr
                          : chunk->slots() + chunk->committed.load(std::memory_order_relaxed);
}

void commit(std::uint32_t more) noexcept {
  ChunkHeader& chunk = *traceloom_chunk;
  chunk.followers += more;
  chunk.committed.store(chunk.committed.load(std::memory_order_relaxed) + 1 + more,
                        std::memory_order_release);
}

void put_slots(const Slot& event, const Arg* first, const Arg* args, std::size_t count) noexcept {
  count = args == nullptr ? 0 : std::min(count, kMostArgs);
  const auto more = static_cast<std::uint32_t>(count + (first == nullptr ? 0 : 1));
  Slot* slot = slot_with(more);
  if (slot == nullptr) return;
  *slot = event;
  slot->value_count = static_cast<std::uint8_t>(count);
  slot->more_slots = static_cast<std::uint16_t>(more);
  if (first != nullptr) std::memcpy(++slot, first, sizeof *first);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(++slot, args + i, sizeof *args);
  commit(more);
}

void put(const Slot& event) noexcept {
  put_slots(event, nullptr, nullptr, 0);
}

// Puts an event that is neither a counter nor the end of a span; `first`: see Kind::measured.
void put_with(traceloom_marker* marker, Kind kind, std::uint64_t value, const Arg* first,
              const Arg* args, std::size_t count) noexcept {
  if (is_off(marker)) return;
  put_slots(
      {now(), value, traceloom_events_at.load(std::memory_order_relaxed), marker->id, kind, 0, 0},
      first, args, std::min(count, label_of(*marker).key_count));
}

OpenSpan begin_span(Site& site) noexcept {
  const OpenSpan span{&site, 0, traceloom_events_at.load(std::memory_order_relaxed)};
  const std::uint32_t mode = site.mode.load(std::memory_order_relaxed);
  if (mode == kOff) return span;
  const std::uint64_t begin_ticks = now();
  if (mode == kOutOfLine) {
    const MarkerOptions& options = label_of(site).options;
    if (options.long_running) put({begin_ticks, 0, span.position, site.id, Kind::begin, 0, 0});
    if (options.instant_on_start)
      put({begin_ticks, 0, span.position, site.id, Kind::instant, 0, 0});
  }
  return {&site, begin_ticks, span.position};
}

}  // namespace

traceloom_marker* traceloom_marker_new(const char* name, const char* categories, uint32_t actions,
                                       uint32_t flags) {
  return traceloom_marker_with(name, categories, actions, flags, nullptr);
}

traceloom_marker* traceloom_marker_with(const char* name, const char* categories, uint32_t actions,
                                        uint32_t flags, const char* args) {
  return made([&]() -> traceloom_marker* {
    MarkerOptions options;
    options.actions = actions_of(actions);
    options.instant_on_start = (flags & TRACELOOM_INSTANT_ON_START) != 0;
    options.instant_on_finish = (flags & TRACELOOM_INSTANT_ON_FINISH) != 0;
    options.long_running = (flags & TRACELOOM_LONG_RUNNING) != 0;
    options.args = args;
    return &Registry::instance().marker(text_or_empty(name), text_or_empty(categories), options);
  });
}

traceloom_span traceloom_begin(traceloom_marker* marker) {
  const OpenSpan span = marker == nullptr ? OpenSpan{} : begin_span(*marker);
  return {span.begin_ticks, span.position};
}

void traceloom_end(traceloom_marker* marker, traceloom_span span) {
  if (marker != nullptr && !end_inline(marker, span.begin, span.position))
    traceloom_end_with(marker, span, nullptr, 0);
}

void traceloom_end_with(traceloom_marker* marker, traceloom_span span, const traceloom_arg* args,
                        size_t count) {
  if (marker == nullptr) return;
  if (span.begin == 0) {
    if (!end_inline(marker, 0, span.position) && marker != &traceloom_unregistered)
      Registry::instance().count_early(label_of(*marker));
    return;
  }
  const Label& label = label_of(*marker);
  const std::uint64_t end_ticks = now();
  put_slots({span.begin, end_ticks - span.begin, span.position, marker->id,
             label.options.long_running ? Kind::end : Kind::whole, 0, 0},
            nullptr, args, std::min(count, label.key_count));
  if (label.options.instant_on_finish)
    put({end_ticks, 0, traceloom_events_at.load(std::memory_order_relaxed), marker->id,
         Kind::instant, 0, 0});
}

void traceloom_record_span(traceloom_marker* marker, int64_t begin_ns, int64_t duration_ns,
                           const traceloom_arg* args, size_t count) {
  const Arg first = traceloom_integer(begin_ns);
  put_with(marker, Kind::measured,
           static_cast<std::uint64_t>(std::max<std::int64_t>(duration_ns, 0)), &first, args, count);
}

void traceloom_async_begin(traceloom_marker* marker, uint64_t id, const traceloom_arg* args,
                           size_t count) {
  put_with(marker, Kind::async_begin, id, nullptr, args, count);
}

void traceloom_async_end(traceloom_marker* marker, uint64_t id) {
  put_with(marker, Kind::async_end, id, nullptr, nullptr, 0);
}

void traceloom_instant(traceloom_marker* marker) {
  traceloom_instant_with(marker, nullptr, 0);
}

void traceloom_instant_with(traceloom_marker* marker, const traceloom_arg* args, size_t count) {
  put_with(marker, Kind::instant, 0, nullptr, args, count);
}

void traceloom_start(traceloom_marker* marker) {
  ThreadState* thread = marker == nullptr ? nullptr : this_thread_state();
  if (thread == nullptr) return;
  try {
    thread->open.push_back({marker, 0, 0});
  } catch (...) {
    return;  // no memory: its finish() will count as misuse
  }
  thread->open.back() = begin_span(*marker);
}

void traceloom_finish(traceloom_marker* marker) {
  ThreadState* thread = marker == nullptr ? nullptr : this_thread_state();
  if (thread == nullptr) return;
  std::vector<OpenSpan>& open = thread->open;
  const auto found = std::find_if(open.rbegin(), open.rend(),
                                  [&](const OpenSpan& span) { return span.site == marker; });
  if (found == open.rend()) {
    // A marker that found no memory to be registered is nobody's mistake.
    if (marker != &traceloom_unregistered)
      Registry::instance().count_misuse(label_of(*marker),
                                        "finish() without start() in this thread does nothing");
    return;
  }
  // A copy of the whole span is a load of 16 bytes, which waits 5 ns for two stores of 8.
  const traceloom_span span{found->begin_ticks, found->position};
  open.erase(std::next(found).base());
  traceloom_end(marker, span);
}

traceloom_counter* traceloom_counter_new(const char* name, const char* categories,
                                         const char* const* keys, size_t key_count,
                                         uint32_t actions) {
  return made([&]() -> traceloom_counter* {
    const std::string text = text_or_empty(name);
    if (keys == nullptr && key_count > 0)
      throw std::invalid_argument("counter '" + text + "': " + std::to_string(key_count) +
                                  " keys, but no pointer to them");
    std::vector<std::string> names;
    names.reserve(key_count);
    for (size_t i = 0; i < key_count; ++i) names.push_back(text_or_empty(keys[i]));
    return &Registry::instance().counter(text, text_or_empty(categories), names,
                                         actions_of(actions));
  });
}

void traceloom_count(traceloom_counter* counter, const double* values, size_t count) {
  if (is_off(counter) || values == nullptr) return;
  count = std::min(count, label_of(*counter).key_count);
  if (count == 0) return;
  constexpr std::size_t kFirstValues = 2;
  constexpr std::size_t kValuesPerSlot = sizeof(Slot) / sizeof(double);
  const std::size_t rest = count > kFirstValues ? count - kFirstValues : 0;
  const auto more = static_cast<std::uint32_t>((rest + kValuesPerSlot - 1) / kValuesPerSlot);
  Slot* const slot = slot_with(more);
  if (slot == nullptr) return;
  *slot = {now(),
           0,
           0,
           counter->id,
           Kind::counter,
           static_cast<std::uint8_t>(count),
           static_cast<std::uint16_t>(more)};
  std::copy_n(reinterpret_cast<const char*>(values), std::min(count, kFirstValues) * sizeof(double),
              reinterpret_cast<char*>(&slot->value));
  std::copy_n(reinterpret_cast<const char*>(values + kFirstValues), rest * sizeof(double),
              reinterpret_cast<char*>(slot + 1));
  commit(more);
}

void traceloom_set_thread_name(const char* name) {
  const ThreadState* const thread = name == nullptr ? nullptr : this_thread_state();
  if (thread != nullptr) guarded([&] { Registry::instance().name_thread(thread->tid, name); });
}
