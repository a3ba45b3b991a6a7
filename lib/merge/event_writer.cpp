#include "merge/event_writer.h"

#include "merge/event_edit.h"
#include "merge/event_repair.h"
#include "merge/id_edits.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

// From here on Perfetto, which reads times as doubles of microseconds, rounds decimals.
constexpr std::int64_t kInexactNs = (std::int64_t{1} << 42) * 1000;

std::int64_t end_of(std::int64_t start_ns, std::int64_t duration_ns) {
  std::int64_t end_ns = 0;
  if (!__builtin_add_overflow(start_ns, duration_ns, &end_ns)) return end_ns;
  return std::numeric_limits<std::int64_t>::max();
}

// From the new start to the new end, where the clock drifts; else what it was.
std::int64_t moved_duration(const EventTiming& timing, std::int64_t start_ns,
                            const TimeMap& times) {
  if (!times.has_drift() || timing.duration_ns == 0) return timing.duration_ns;
  std::int64_t end_ns = 0;
  const bool fits = times.map(end_of(timing.start_ns, timing.duration_ns), end_ns);
  return fits ? end_ns - start_ns : timing.duration_ns;
}

}  // namespace

void EventWriter::write(const Event& event, const EventTiming& timing, WriteState& state) const {
  if (!timing.timed || (plan_.keeps_begin_end && is_stray_end(event))) return;
  write_usable(event, timing, state);
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
  const TrackTarget* const target = find_track(event, state);
  if (target == nullptr) return note_unplanned(event, state);
  edit.set(Key::pid, target->pid);
  if (event.has(Key::tid) || event.phase != 'C') edit.set(Key::tid, target->tid);
  if (!timing.timed) {
    if (event.has(Key::ts)) edit.replace(Key::ts, "0");
    state.out += ",\n";
    edit.append_to(state.out);
    return;
  }
  std::int64_t start_ns = 0;
  if (!file.times.map(timing.start_ns, start_ns)) {
    state.problems.add(Problem::bad_timestamp, event.offset);
    return;
  }
  // A paired E is never before its B, and which ones are stray is seen when the file has been read.
  if (start_ns < 0 && event.phase != 'E') return note_unplanned(event, state);
  if (start_ns >= kInexactNs && start_ns % 1000 != 0 && event.phase != 'E')
    state.problems.add(Problem::inexact_timestamp, event.offset);
  const std::int64_t duration_ns = moved_duration(timing, start_ns, file.times);
  state.last_ns = std::max(state.last_ns, end_of(start_ns, duration_ns));
  if (start_ns != timing.start_ns || timing.rewrite) edit.set_time(Key::ts, start_ns);
  if (!plan_.keeps_begin_end && (event.phase == 'B' || event.phase == 'E'))
    return write_half(event, clean, start_ns, edit, state);
  if (event.phase == 'X' && (timing.rewrite || duration_ns != timing.duration_ns))
    edit.set_time(Key::dur, duration_ns);
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

// Neighbours are mostly of the same track. nullptr when the plan does not have it.
const TrackTarget* EventWriter::find_track(const Event& event, WriteState& state) const {
  if (plan_.tracks.has_gpu_tracks(file_)) return find_unfolded_track(event, state);
  const std::string_view pid = event.text(Key::pid);
  const std::string_view tid = event.text(Key::tid);
  if (state.last_track == nullptr || state.last_file != file_ || pid != state.last_pid ||
      tid != state.last_tid) {
    state.last_track = plan_.tracks.target(file_, pid, tid, state.scratch);
    state.last_file = file_;
    state.last_pid = pid;
    state.last_tid = tid;
  }
  return state.last_track;
}

const TrackTarget* EventWriter::find_unfolded_track(const Event& event, WriteState& state) const {
  const std::string_view pid = event.text(Key::pid);
  const std::string_view tid = event.text(Key::tid);
  if (const std::optional<std::string> gpu = state.gpu_rows.find(event)) {
    const TrackTarget* const target = plan_.tracks.gpu_target(file_, pid, tid, *gpu, state.scratch);
    // Arrows may end at a thread after all, and stray ends make no row.
    if (target != nullptr) return target;
  }
  return plan_.tracks.target(file_, pid, tid, state.scratch);
}

}  // namespace traceloom
