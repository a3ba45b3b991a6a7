#include "record/engine/event_drain.h"

#include "record/buffers/registry.h"

#include <optional>
#include <utility>

namespace traceloom::record {

EventDrain::EventDrain(const WriterParts& parts, CycleMetadata& metadata)
    : parts_(parts),
      metadata_(metadata),
      pool_(ChunkPool::instance()),
      feeder_(parts.clock.line(), [](std::uint32_t id) { return Registry::instance().label(id); }) {
}

void EventDrain::begin_cycle() {
  events_ = 0;
  told_events_ = 0;
  lost_ = 0;
  told_lost_ = 0;
  is_left_out_told_ = false;
  feeder_.begin_file();
}

bool EventDrain::has_untold_events() {
  return has_waiting_events() || pool_.dropped() > dropped_before_;
}

bool EventDrain::has_waiting_events() {
  bool has_some = false;
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t committed = live.chunk->committed.load(std::memory_order_acquire);
    std::uint32_t i = live.chunk->written.load(std::memory_order_relaxed);
    for (; i < committed && !has_some; i += 1U + live.chunk->slots()[i].more_slots)
      has_some = live.chunk->slots()[i].time >= parts_.first_ticks;
  }
  pool_.end_drain({});
  return has_some;
}

void EventDrain::drain(std::uint64_t up_to_ticks) {
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t state = live.chunk->state.load(std::memory_order_acquire);
    const std::uint32_t written = drain_chunk(live, up_to_ticks);
    // The owner has let go of it, so nothing more will be committed.
    if (state == kFullChunk && written == live.chunk->committed.load(std::memory_order_acquire))
      done_.push_back(live.chunk);
  }
  flush();
  pool_.end_drain(done_);
  done_.clear();
}

// Returns how many slots of the chunk are with the handlers now.
std::uint32_t EventDrain::drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks) {
  detail::ChunkHeader& chunk = *live.chunk;
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  std::uint32_t i = chunk.written.load(std::memory_order_relaxed);
  if (i == committed) return i;
  const JsonSink* const json = parts_.handlers.json();
  const EventThread* thread = nullptr;
  const auto to_handlers = [this](const auto& use) { parts_.handlers.call(use); };
  while (i < committed) {
    const detail::Slot& slot = chunk.slots()[i];
    if (EventFeeder::commit_ticks(slot) > up_to_ticks) break;
    // Events that began before this session do not belong to it.
    if (slot.time >= parts_.first_ticks) {
      if (thread == nullptr) thread = &metadata_.thread_of(chunk);
      if (feeder_.feed(slot, *thread, to_handlers)) {
        ++events_;
        if (parts_.handlers.has_json_failed()) ++lost_;
      }
    }
    i += 1U + slot.more_slots;
    if (json != nullptr && json->wants_flush()) {
      written_.push_back({&chunk, i});
      flush();
    }
  }
  written_.push_back({&chunk, i});
  return i;
}

void EventDrain::cut_open_slices(std::uint64_t at_ticks) {
  if (parts_.handlers.has_json_failed() || !parts_.handlers.has_file()) return;
  feeder_.for_each_open(parts_.clock.line().ns(at_ticks),
                        [this](const DurationEvent& event) { parts_.handlers.json()->cut(event); });
}

// Counts events that the file cannot have as lost, so that the file has what it is said to have.
void EventDrain::count_left_out() {
  const JsonSink::LeftOut left_out = parts_.handlers.json()->take_left_out();
  lost_ += left_out.events;
  if (left_out.events == 0 || std::exchange(is_left_out_told_, true)) return;
  parts_.status.set_error(
      "counter '" + left_out.label->name +
      "': an event without any value that is a number is not written (told once a file)");
}

JournalLayout::CycleCounts EventDrain::cycle_counts() const {
  return {in_file(), lost_, pool_.dropped() - dropped_before_};
}

void EventDrain::check_labels() {
  Journal* const journal = parts_.journal;
  const std::uint64_t count = journal == nullptr ? 0 : journal->labels_without_room();
  if (count == 0 || std::exchange(is_label_loss_told_, true)) return;
  parts_.status.set_error(
      journal->path() +
      ": has no room for the names of more markers; a recovery would call their events "
      "\"marker NUMBER\", and count them (told once)");
}

void EventDrain::flush() {
  HandlerList& handlers = parts_.handlers;
  check_labels();
  if (handlers.json() != nullptr) count_left_out();
  if (handlers.has_file() && !handlers.has_json_failed()) {
    try {
      handlers.json()->flush();
    } catch (...) {
      lost_ += handlers.json()->pending_events();
      handlers.fail_json();
    }
  }
  if (parts_.journal != nullptr && handlers.has_file()) {
    parts_.journal->commit(handlers.json()->state(), written_, cycle_counts());
  } else {
    for (const Journal::Written& each : written_)
      each.chunk->written.store(each.written, std::memory_order_release);
  }
  written_.clear();
  tell_counts();
}

void EventDrain::tell_counts() {
  std::optional<std::uint64_t> bytes;
  if (parts_.handlers.json() != nullptr) bytes = parts_.handlers.json()->bytes_written();
  parts_.status.add_counts(events_ - std::exchange(told_events_, events_),
                           lost_ - std::exchange(told_lost_, lost_), bytes);
}

std::uint64_t EventDrain::take_dropped(std::uint64_t so_far) {
  return so_far - std::exchange(dropped_before_, so_far);
}

}  // namespace traceloom::record
