#include "merge/event_writer.h"

#include "merge/event_edit.h"
#include "merge/event_repair.h"
#include "merge/id_edits.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

std::int64_t end_of(std::int64_t start_ns, std::int64_t duration_ns) {
  std::int64_t end_ns = 0;
  if (!__builtin_add_overflow(start_ns, duration_ns, &end_ns)) return end_ns;
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void EventWriter::write(const Event& event, const EventTiming& timing, WriteState& state) const {
  if (!timing.timed || (plan_.keeps_begin_end && is_stray_end(event))) return;
  if (filter_ != nullptr && is_filtered_away(event, timing, state)) return;
  write_usable(event, timing, state);
}

// Asked before the text is looked at, so that nothing is repaired in vain. An event that cannot be
// placed is not filtered away: write_as() says so.
bool EventWriter::is_filtered_away(const Event& event, const EventTiming& timing,
                                   WriteState& state) const {
  if (!filter_->reads(file_)) return true;
  const TrackTarget* const target = state.tracks.find(plan_.tracks, file_, event);
  std::int64_t start_ns = 0;
  if (target == nullptr ||
      __builtin_add_overflow(timing.start_ns, plan_.files[file_].shift_ns, &start_ns))
    return false;
  const bool is_half = !plan_.keeps_begin_end && (event.phase == 'B' || event.phase == 'E');
  if (is_half && event.phase == 'E') return false;
  if (filter_->keeps(file_, event, *target, start_ns, timing.duration_ns, state.filter_memory))
    return false;
  // A B that is never closed ends with its file, whatever of that is written.
  state.last_ns = std::max(state.last_ns, end_of(start_ns, timing.duration_ns));
  if (is_half) {
    SliceHalf half;
    half.wanted = false;
    state.halves.add(event, start_ns, std::move(half));
  }
  return true;
}

void EventWriter::write_metadata(const KeptMetadata& metadata, WriteState& state) const {
  ProblemCounts ignored;
  EventScanner scanner;
  scanner.start(metadata.text, metadata.offset, Position::first, ignored);
  if (const Event* event = scanner.next()) write_usable(*event, EventTiming{}, state);
}

void EventWriter::write_usable(const Event& event, const EventTiming& timing,
                               WriteState& state) const {
  if (is_clean_event(event)) return write_as(event, event, timing, state);
  ProblemCounts ignored;  // the text is strict JSON now
  const std::string repaired = repair_event(event, state.problems);
  state.scanner.start(repaired, event.offset, Position::first, ignored);
  if (const Event* clean = state.scanner.next()) write_as(event, *clean, timing, state);
}

bool EventWriter::is_stray_end(const Event& event) const {
  const std::vector<std::uint64_t>& orphans = plan_.files[file_].orphan_ends;
  return event.phase == 'E' && std::binary_search(orphans.begin(), orphans.end(), event.offset);
}

// Everything is decided by `event`, as the survey saw it; `clean` is the same event, or its
// repaired text.
void EventWriter::write_as(const Event& event, const Event& clean, const EventTiming& timing,
                           WriteState& state) const {
  const FilePlan& file = plan_.files[file_];
  EventEdit edit(clean);
  const TrackTarget* const target = state.tracks.find(plan_.tracks, file_, event);
  if (target == nullptr) return note_unplanned(event, state);
  if (!timing.timed && filter_ != nullptr && !filter_->shows(target->pid)) return;
  edit.set(Key::pid, target->pid);
  if (event.has(Key::tid) || event.phase != 'C') edit.set(Key::tid, target->tid);
  if (!timing.timed) {
    if (event.has(Key::ts)) edit.replace(Key::ts, "0");
    state.out += ",\n";
    edit.append_to(state.out);
    return;
  }
  std::int64_t start_ns = 0;
  if (__builtin_add_overflow(timing.start_ns, file.shift_ns, &start_ns)) {
    state.problems.add(Problem::bad_timestamp, event.offset);
    return;
  }
  // A paired E is never before its B, and which ones are stray is seen when the file has been read.
  if (start_ns < 0 && event.phase != 'E') return note_unplanned(event, state);
  state.last_ns = std::max(state.last_ns, end_of(start_ns, timing.duration_ns));
  if (file.shift_ns != 0 || timing.rewrite) edit.set_time(Key::ts, start_ns);
  if (!plan_.keeps_begin_end && (event.phase == 'B' || event.phase == 'E'))
    return write_half(event, clean, start_ns, edit, state);
  if (event.phase == 'X' && timing.rewrite) edit.set_time(Key::dur, timing.duration_ns);
  edit_ids(event, file, edit, state.scratch);
  // Two clock syncs of one id make catapult stop its import; those of many files have done their
  // work.
  if (event.phase == 'c' && plan_.files.size() > 1) edit.replace(Key::ph, "\"i\"");
  // A line over the whole trace, from each of many ranks: the rank's own process is what is meant.
  if ((event.phase == 'i' || event.phase == 'I') && plan_.tracks.ranks().size() > 1 &&
      event.text(Key::s) == "\"g\"")
    edit.replace(Key::s, "\"p\"");
  state.out += ",\n";
  edit.append_to(state.out);
  ++state.events;
}

// Of an E only the args are of interest: all else stands in its B.
void EventWriter::write_half(const Event& event, const Event& clean, std::int64_t start_ns,
                             EventEdit& edit, WriteState& state) const {
  SliceHalf half;
  if (event.phase == 'E') {
    half.text = clean.text(Key::args);
  } else {
    edit_ids(event, plan_.files[file_], edit, state.scratch);
    edit.replace(Key::ph, "\"X\"");
    half.has_duration_key = clean.has(Key::dur);
    if (half.has_duration_key) edit.replace(Key::dur, "");
    edit.append_to(half.text);
    half.duration_at = edit.place_of(clean.range(half.has_duration_key ? Key::dur : Key::ts).end);
    half.args_begin = edit.place_of(clean.range(Key::args).begin);
    half.args_end = half.args_begin + clean.text(Key::args).size();
  }
  state.halves.add(event, start_ns, std::move(half));
}

void EventWriter::note_unplanned(const Event& event, WriteState& state) {
  if (!state.unplanned) state.unplanned = event.offset;
}

}  // namespace traceloom
