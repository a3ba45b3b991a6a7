#include "base/arithmetic.h"
#include "merge/edits/field_edits.h"
#include "merge/write/write_visitor.h"
#include "scan/event_repair.h"

#include <functional>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

// From this time on, Perfetto rounds decimals: it reads times as doubles of microseconds.
constexpr std::int64_t kInexactNs = (std::int64_t{1} << 42) * 1000;

void append_event(EventEdit& edit, TextBuffer& text) {
  text += ",\n";
  edit.append_to(text);
}

OrderClass order_class(char phase) {
  switch (phase) {
    case 'X':
      return OrderClass::slice;
    case 'C':
      return OrderClass::counter;
    case 's':
    case 't':
    case 'f':
      return OrderClass::flow;
    default:
      return OrderClass::other;
  }
}

// True for an event that becomes a slice together with its other half.
bool is_half(const Event& event) {
  return event.phase == 'B' || event.phase == 'E';
}

// A hash collision only means that two counters are sorted as one group, which is harmless. The
// thread that took a sample does not matter: a counter belongs to its process.
std::uint32_t counter_group(const Event& event, std::string& scratch) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(counter_key(event, scratch)));
}

}  // namespace

void EventWriter::write(const Event& event, const EventTiming& timing, WriteState& state) const {
  if (!timing.timed) return;
  if (event.phase == 'C' && !has_counter_value(event))
    return state.problems.add(Problem::bad_counter, event.offset);
  // The files of unwanted ranks are read for their clocks only.
  if (filter_ != nullptr && !filter_->reads(file_)) return;
  const Place place{state.tracks.find(plan_.tracks, file_, event),
                    output_time(timing, plan_.files[file_].times)};
  // Note the start before filtering: the length of an X without dur must not depend on the filter.
  if (plan_.files[file_].lacks_durations && place.target != nullptr && place.time)
    state.halves.last_starts.note(place.target->number, place.time->start_ns);
  // A B inside a slice that is never closed ends with the slice, also if a filter drops the slice.
  if (event.phase == 'X' && place.target != nullptr && place.target->has_begins && place.time &&
      !place.time->is_endless())
    state.halves.batch.add_slice(event, place.time->start_ns, place.time->end_ns);
  if (filter_ != nullptr && is_filtered_away(event, place, state)) return;
  write_usable(event, timing, place, state);
}

// Runs before the text is looked at, so that nothing is repaired in vain. An event without a place
// is not filtered away: write_as() reports it.
bool EventWriter::is_filtered_away(const Event& event, const Place& place,
                                   WriteState& state) const {
  const auto& [target, time] = place;
  if (target == nullptr || !time) return false;
  if (event.phase == 'E') return false;
  if (filter_->keeps(file_, event, *target, *time, state.filter_memory)) return false;
  // A B that is never closed ends with the last event of its rank, also if a filter drops that
  // event.
  state.last_ends.note(target->rank, time->end_ns);
  if (event.phase == 'B') state.halves.add(event, time->start_ns, {.wanted = false});
  return true;
}

void EventWriter::write_metadata(const KeptMetadata& metadata, WriteState& state) const {
  ProblemCounts ignored;
  EventScanner scanner;
  scanner.start(metadata.text, metadata.offset, Position::first, ignored);
  const Event* const event = scanner.next();
  if (event == nullptr) return;
  const Place place{state.tracks.find(plan_.tracks, file_, *event)};
  if (!is_left_out(place.target)) write_usable(*event, EventTiming{}, place, state);
}

bool EventWriter::is_left_out(const Event& event, WriteState& state) const {
  return plan_.only_rank && is_left_out(state.tracks.find(plan_.tracks, file_, event));
}

bool EventWriter::is_left_out(const TrackTarget* target) const {
  return plan_.only_rank && target != nullptr && !plan_.writes(target->rank);
}

void EventWriter::write_usable(const Event& event, const EventTiming& timing, const Place& place,
                               WriteState& state) const {
  if (is_clean_event(event)) return write_as(event, event, timing, place, state);
  ProblemCounts ignored;  // the text is strict JSON now
  const std::string repaired = repair_event(event, state.problems);
  state.scanner.start(repaired, event.offset, Position::first, ignored);
  if (const Event* clean = state.scanner.next()) write_as(event, *clean, timing, place, state);
}

// Decides everything by `event`, as the survey saw it; `clean` is the same event, or its repaired
// text.
void EventWriter::write_as(const Event& event, const Event& clean, const EventTiming& timing,
                           const Place& place, WriteState& state) const {
  const FilePlan& file = plan_.files[file_];
  EventEdit edit(clean);
  const auto& [target, time] = place;
  if (target == nullptr) return note_unplanned(event, state);
  if (!timing.timed && filter_ != nullptr && !filter_->shows(target->pid)) return;
  edit.set(Key::pid, target->pid);
  if (event.has(Key::tid) || event.phase != 'C') edit.set(Key::tid, target->tid);
  if (!timing.timed) {
    if (event.has(Key::ts)) edit.replace(Key::ts, "0");
    edit_fields({event, clean, file, {}, false}, edit, state.problems);
    append_event(edit, state.block.text);
    return;
  }
  if (!time) return skip_outlier(event, timing, state);
  const std::int64_t start_ns = time->start_ns;
  // A paired E is never before its B, and stray ends are known only after the whole file has been
  // read.
  if (start_ns < 0 && event.phase != 'E') return note_unplanned(event, state);
  if (start_ns >= kInexactNs && event.phase != 'E') [[unlikely]]
    state.problems.add(start_ns % 1000 == 0 ? Problem::far_timestamp : Problem::inexact_timestamp,
                       event.offset);
  state.last_ends.note(target->rank, time->end_ns);
  if (event.phase == 'X' && file.is_superseded(event, *target)) return;
  if (start_ns != timing.start_ns || timing.rewrite) edit.set_time(Key::ts, start_ns);
  if (!has_usual_fields(event) || plan_.has_objects) [[unlikely]]
    edit_rare_fields({event,
                      clean,
                      file,
                      {timing.start_ns, saturating_subtract(start_ns, timing.start_ns)},
                      is_half(event)},
                     edit, state.problems);
  if (is_half(event)) return write_half(event, clean, start_ns, *target, edit, state);
  if (time->is_endless()) return keep_endless(event, clean, *time, *target, edit, state);
  if (event.phase == 'X' && (timing.rewrite || time->duration_ns != timing.duration_ns))
    edit.set_time(Key::dur, time->duration_ns);
  if (is_flow_phase(event.phase))
    edit_flow(event, clean, edit, state);
  else if (event.phase != 'X' || event.has(Key::bind_id))
    edit_ids(event, file, edit, state.scratch);
  // Catapult stops its import at two clock syncs of one id. Clock syncs have done their work, so
  // they become instants, unless an embedded trace has a clock of its own.
  if (event.phase == 'c' && !file.keeps_subtraces) {
    edit.replace(Key::ph, "\"i\"");
    // On a thread, Perfetto would take it for a slice that arrows can start at.
    edit.set(Key::s, "\"p\"");
  }
  // A global instant draws a line over the whole trace, one for each of many ranks. It means its
  // own process only.
  if ((event.phase == 'i' || event.phase == 'I' || event.phase == 'R') &&
      plan_.tracks.ranks().size() > 1 && event.text(Key::s) == "\"g\"")
    edit.replace(Key::s, "\"p\"");
  if (!file.async_slices.empty() && is_async(event)) [[unlikely]]
    if (const AsyncAdditions* const additions = file.async_slices.find(event.offset))
      return append_async(*additions, event, clean, place, edit, state);
  append(event,
         {.start_ns = start_ns,
          .duration_ns = time->duration_ns,
          .source_at = event.offset,
          .group = target->number},
         edit, state);
}

// Drops an event whose time does not fit. A dropped B leaves a half that is not written, so that
// its end closes no other begin.
void EventWriter::skip_outlier(const Event& event, const EventTiming& timing,
                               WriteState& state) const {
  StartTimes::count_outlier(timing.start_ns, event.offset, 1, state.problems);
  if (event.phase != 'B') return;
  using Limits = std::numeric_limits<std::int64_t>;
  const bool is_early = plan_.files[file_].times.is_early(timing.start_ns);
  state.halves.add(event, is_early ? Limits::min() : Limits::max(), {.wanted = false});
}

// Notes the place of the event if its order matters: for slices, counters, and arrows that end at
// the next slice, unless the file keeps its order, and for all events when they are sorted by time.
void EventWriter::append(const Event& event, PlacedEvent place, EventEdit& edit,
                         WriteState& state) const {
  ++state.events;
  place.order = order_class(event.phase);
  if (place.order == OrderClass::slice &&
      state.overlaps.overlaps(place.group, place.start_ns, place.duration_ns))
    state.problems.add(Problem::partial_overlap, event.offset);
  if (place.order == OrderClass::counter) place.group = counter_group(event, state.scratch);
  if (place.order == OrderClass::flow && plan_.files[file_].binds_next(event)) {
    place.order = OrderClass::next_end;
    place.duration_ns = kUnbound;
  }
  const auto append_text = [&] { append_event(edit, state.block.text); };
  const bool has_order = (place.order < OrderClass::other || place.order == OrderClass::next_end) &&
                         !plan_.files[file_].keeps_order;
  if (has_order || plan_.sorts_by_time)
    state.block.place(place, append_text);
  else
    append_text();
}

// Writes the event with the other halves of slices that begin or end there. Viewers nest events of
// one time in the order of the text.
void EventWriter::append_async(const AsyncAdditions& additions, const Event& event,
                               const Event& clean, const Place& place, EventEdit& edit,
                               WriteState& state) const {
  const AsyncSlices& slices = plan_.files[file_].async_slices;
  const AsyncHalves halves(event, clean, *place.target, plan_.files[file_], state.scratch);
  const std::int64_t ns = place.time->start_ns;
  const auto append_text = [&] {
    TextBuffer& text = state.block.text;
    const auto append_ends = [&] {
      for (const AsyncHalf& half : additions.ended) text += halves.text('e', half, slices, ns);
    };
    // A slice inside a slice that ends or begins here must end before that.
    if (event.phase != 'p') append_ends();
    append_event(edit, text);
    if (event.phase == 'p') append_ends();
    if (additions.begun.name != kNoText) text += halves.text('b', additions.begun, slices, ns);
  };
  ++state.events;
  if (plan_.sorts_by_time)
    state.block.place({.start_ns = ns, .source_at = event.offset, .group = place.target->number},
                      append_text);
  else
    append_text();
  if (!additions.is_unended) return;
  const std::string_view name =
      additions.step == kNoText ? clean.text(Key::name) : slices.text(additions.step);
  state.unended.push_back({ns, event.offset, place.target->rank, std::string(name), halves});
}

void EventWriter::edit_flow(const Event& event, const Event& clean, EventEdit& edit,
                            WriteState& state) const {
  const FilePlan& file = plan_.files[file_];
  if (event.has(Key::bind_id)) edit_ids(event, file, edit, state.scratch);
  edit_flow_id(event, file, edit, state.scratch);
  if (event.phase == 'f' && file.is_startless_end(event)) {
    bind_to_slice_around(clean, edit);
    state.problems.add(Problem::arrow_without_start, event.offset);
  }
  if (event.phase == 't' && filter_ != nullptr) cut_arrow(event, clean, edit);
}

// If the filter dropped one side of this flow step (t), turns it into a start (s) or end (f).
// Viewers bind a step to the slice around it, so the end is bound in the same way.
void EventWriter::cut_arrow(const Event& event, const Event& clean, EventEdit& edit) const {
  const char phase = filter_->phase_of_flow(file_, event);
  if (phase == 't') return;
  edit.replace(Key::ph, phase == 's' ? "\"s\"" : "\"f\"");
  if (phase == 'f') bind_to_slice_around(clean, edit);
}

void EventWriter::edit_rare_fields(const EditedEvent& event, EventEdit& edit,
                                   ProblemCounts& problems) const {
  if (!has_usual_fields(event.event)) edit_fields(event, edit, problems);
  if (plan_.has_objects) edit_object_refs(event, edit);
}

// Keeps a B or E until both are known. Only the args, the thread's clock, the stack and the cut id
// of an E matter: its B has all else.
void EventWriter::write_half(const Event& event, const Event& clean, std::int64_t start_ns,
                             const TrackTarget& target, EventEdit& edit, WriteState& state) const {
  SliceHalf half;
  if (event.phase == 'E') {
    half.text = edit.text(Key::args);
    const Key frame = clean.has(Key::esf) ? Key::esf : Key::sf;
    if (clean.text(frame) != "null") half.frame = edit.text(frame);
    half.cut_id = clean.text(Key::cut_id);
    half.is_superseded = plan_.files[file_].is_superseded(event, target);
  } else {
    // The thread duration of a B is not that of the slice: node writes 0.
    if (clean.has(Key::tdur)) edit.remove(Key::tdur);
    if (clean.has(Key::esf)) edit.rename(Key::esf, "source_esf");
    edit.replace(Key::ph, "\"X\"");
    half = begin_half(event, clean, edit, state);
  }
  half.track = target.number;
  half.rank = target.rank;
  if (const std::optional<ParsedTime> time = parse_time(clean.text(Key::tts)))
    half.thread_ns = time->rounded_ns();
  state.halves.add(event, start_ns, std::move(half));
}

// Returns the whole event, but for its duration.
SliceHalf EventWriter::begin_half(const Event& event, const Event& clean, EventEdit& edit,
                                  WriteState& state) const {
  SliceHalf half;
  edit_ids(event, plan_.files[file_], edit, state.scratch);
  half.has_duration_key = clean.has(Key::dur);
  if (half.has_duration_key) edit.replace(Key::dur, "");
  edit.append_to(half.text);
  half.duration_at = edit.place_of(clean.range(half.has_duration_key ? Key::dur : Key::ts).end);
  half.args_begin = edit.place_of(clean.range(Key::args).begin);
  half.args_end = half.args_begin + edit.text(Key::args).size();
  return half;
}

void EventWriter::keep_endless(const Event& event, const Event& clean, const OutputTime& time,
                               const TrackTarget& target, EventEdit& edit,
                               WriteState& state) const {
  if (time.slice_end == SliceEnd::missing && !plan_.files[file_].lacks_durations)
    return note_unplanned(event, state);
  SliceHalf half = begin_half(event, clean, edit, state);
  half.track = target.number;
  half.rank = target.rank;
  state.halves.endless.push_back({time.start_ns, event.offset, std::move(half), time.slice_end});
}

void EventWriter::note_unplanned(const Event& event, WriteState& state) {
  if (!state.unplanned) state.unplanned = event.offset;
}

}  // namespace traceloom
