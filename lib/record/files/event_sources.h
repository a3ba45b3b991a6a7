// The sources of the events of a trace: the slots that threads leave, and the traces of other
// profilers.
#pragma once

#include "base/problems.h"
#include "record/buffers/clock.h"
#include "record/buffers/registry.h"
#include "record/slots.h"
#include "record/trace_handler.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom::record {

// EventFeeder: makes the events that handlers get of the slots that threads leave in their chunks.
//
//   EventFeeder feeder(line, [](std::uint32_t id) { return find(id); });
//   feeder.feed(slot, thread, [](TraceHandler& handler) ...);

// The thread that recorded an event.
struct EventThread {
  std::int64_t tid = 0;  // its id in the system
  std::string name;
};

// Not thread-safe.
class EventFeeder {
 public:
  using FindLabel = std::function<const EventLabel*(std::uint32_t id)>;

  EventFeeder(const TimeLine& line, FindLabel find_label)
      : line_(line), find_label_(std::move(find_label)) {}

  // Calls `use` for each long-running marker that has begun in this file and not ended yet, the
  // innermost first. The event lasts up to `at_ns`, where a save cuts the file.
  template <typename Use>
  void for_each_open(std::int64_t at_ns, const Use& use);
  // Begins another file. The begins of long-running markers that were fed before are in the file
  // before; their ends are handed over as whole durations.
  void begin_file() { open_.clear(); }
  // Hands over one event: the slot, and the slots after it that belong to it. `call` gets each
  // TraceHandler call as a function: call([&](TraceHandler& handler) { handler.duration(event); }).
  // Returns false for a slot that is no event, such as one with an unknown label.
  template <typename Call>
  bool feed(const detail::Slot& slot, const EventThread& thread, const Call& call);
  // Notes that the begin of this end is in the file that a recovery goes on with.
  void assume_open(const detail::Slot& end) { open_.try_emplace(identity(end)); }

  // The counters of processors may differ by a little. If an event ends earlier by more, it began
  // on the clock of another session.
  static bool ends_before_it_begins(const detail::Slot& slot) {
    constexpr std::uint64_t kLittle = 1'000'000;
    const std::uint64_t end = commit_ticks(slot);
    return end < slot.time && slot.time - end > kLittle;
  }
  // Returns the ticks at which the thread let go of the slot.
  static std::uint64_t commit_ticks(const detail::Slot& slot) {
    const bool lasts = slot.kind == detail::Kind::whole || slot.kind == detail::Kind::end;
    return lasts ? slot.time + slot.value : slot.time;
  }

 private:
  using Identity = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;
  static Identity identity(const detail::Slot& slot) { return {slot.time, slot.site, slot.extra}; }
  const EventLabel* label(std::uint32_t id);
  // Returns an event with what those of all kinds have.
  template <typename Event>
  static Event event_of(const EventLabel& label, const EventThread& thread) {
    Event event{};
    event.size = sizeof event;
    event.label = label.id;
    event.name = label.name.c_str();
    event.categories = label.categories.c_str();
    event.thread_name = thread.name.c_str();
    event.tid = thread.tid;
    return event;
  }
  traceloom_duration_part part_of(const detail::Slot& slot, const EventThread& thread);
  const double* values_of(const detail::Slot& slot);
  // Returns the arguments of the event as a JSON object, valid until the next call; "" without any.
  const char* args_of(const detail::Slot& slot, const EventLabel& label);
  // Returns the begin of a Kind::measured; nullopt if its numbers are none that a program gives.
  std::optional<std::int64_t> measured_begin(const detail::Slot& slot) const;

  const TimeLine& line_;
  FindLabel find_label_;
  std::vector<const EventLabel*> labels_;  // index: id
  // The open long-running markers, with the thread that began each; they are few.
  std::map<Identity, const EventThread*> open_;
  std::vector<double> values_;
  std::string args_;
};

template <typename Call>
bool EventFeeder::feed(const detail::Slot& slot, const EventThread& thread, const Call& call) {
  const EventLabel* const label = this->label(slot.site);
  if (label == nullptr || ends_before_it_begins(slot)) return false;
  const std::int64_t at_ns = line_.ns(slot.time);
  const auto epoch = static_cast<std::uint32_t>(slot.extra >> 32);
  const auto batch = static_cast<std::uint32_t>(slot.extra);
  switch (slot.kind) {
    case detail::Kind::none:
      return false;
    case detail::Kind::instant:
    case detail::Kind::async_begin:
    case detail::Kind::async_end: {
      auto event = event_of<InstantEvent>(*label, thread);
      event.at_ns = at_ns;
      event.epoch = epoch;
      event.batch = batch;
      event.part = slot.kind == detail::Kind::instant       ? TRACELOOM_MOMENT
                   : slot.kind == detail::Kind::async_begin ? TRACELOOM_ASYNC_BEGIN
                                                            : TRACELOOM_ASYNC_END;
      event.id = slot.value;
      event.args_json = args_of(slot, *label);
      call([&](TraceHandler& handler) { handler.instant(event); });
      return true;
    }
    case detail::Kind::counter: {
      if (slot.value_count > label->key_count) return false;
      auto event = event_of<CounterEvent>(*label, thread);
      event.at_ns = at_ns;
      event.keys = label->keys;
      event.values = values_of(slot);
      event.count = slot.value_count;
      call([&](TraceHandler& handler) { handler.counter(event); });
      return true;
    }
    case detail::Kind::measured:
    case detail::Kind::whole:
    case detail::Kind::begin:
    case detail::Kind::end:
      break;
  }
  auto event = event_of<DurationEvent>(*label, thread);
  event.begin_ns = at_ns;
  event.epoch = epoch;
  event.batch = batch;
  event.args_json = args_of(slot, *label);
  if (slot.kind == detail::Kind::measured) {
    const std::optional<std::int64_t> begin_ns = measured_begin(slot);
    if (!begin_ns) return false;
    event.begin_ns = *begin_ns;
    event.duration_ns = static_cast<std::int64_t>(slot.value);
    call([&](TraceHandler& handler) { handler.duration(event); });
    return true;
  }
  if (slot.kind != detail::Kind::begin)
    event.duration_ns = std::max<std::int64_t>(line_.ns(commit_ticks(slot)) - at_ns, 0);
  if (slot.kind != detail::Kind::whole) event.part = part_of(slot, thread);
  if (slot.kind == detail::Kind::end && event.part == TRACELOOM_WHOLE) event.cut_id = slot.time;
  call([&](TraceHandler& handler) { handler.duration(event); });
  return true;
}

template <typename Use>
void EventFeeder::for_each_open(std::int64_t at_ns, const Use& use) {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    const auto& [ticks, id, position] = open->first;
    const EventLabel* const label = this->label(id);
    if (label == nullptr || open->second == nullptr) continue;
    auto event = event_of<DurationEvent>(*label, *open->second);
    event.part = TRACELOOM_END;
    event.begin_ns = line_.ns(ticks);
    event.args_json = "";
    event.duration_ns = std::max<std::int64_t>(at_ns - event.begin_ns, 0);
    event.epoch = static_cast<std::uint32_t>(position >> 32);
    event.batch = static_cast<std::uint32_t>(position);
    event.cut_id = ticks;
    use(event);
  }
}

// copy_external_trace(): copies the events of another profiler's trace as events of ours.
//
//   copy_external_trace("rank0.pt.trace.json.gz", 0, [&](std::string_view event) { sink(event); });

// Thrown if part of the trace could not be read, or had to be repaired. All that can be used has
// been handed over before.
class ImperfectTrace : public Error {
 public:
  using Error::Error;
};

// Hands over each event of the trace (plain, gzip or zstd; a list, also one that is not closed or
// cut, or an object with traceEvents) with these changes:
//
//   ts    counts from 1970: the base time of the file is added (Kineto's baseTimeNanoseconds)
//   pid   becomes `rank` for the process that records, or if it has no events, for the process
//         of the first event that is no metadata, and for events without a pid. Each other one (a
//         GPU of torch, "Spans") becomes rank + k * 2^21, k = 1, 2, ... in order of appearance:
//         rows that were apart stay apart, and belong to no other rank.
//   names of that process are left out, because it has one already, and so are facts of rank and
//         clock (global_rank, clock_sync_timestamp_us, ...), because the file has its own
//   text  that is not strict JSON (NaN, bytes that are not UTF-8, raw control characters, ...) is
//         repaired as a merge repairs it (event_repair.h)
//
// Events without a phase or a usable time are left out. The file is read twice. Throws Error if it
// cannot be read or is no trace. Throws ImperfectTrace at the end if the trace is cut or damaged,
// if something was left out or repaired (it says how often, and where first), or if the base time
// is no number.
void copy_external_trace(const std::string& path, std::int64_t rank,
                         const std::function<void(std::string_view)>& use);

}  // namespace traceloom::record
