#include "merge/event_writer.h"

#include "event/trace_time.h"
#include "merge/event_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
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

// A handful of replacements in the text of one event, applied in the order of their places.
class EventWriter::Edit {
 public:
  explicit Edit(const Event& event) : event_(event) {}

  // Texts are kept in a small buffer of our own: no allocation an event.
  void replace(std::uint32_t begin, std::uint32_t end, std::string_view text) {
    const std::size_t at = texts_size_;
    append_text(text);
    assert(patch_count_ < patches_.size());
    patches_[patch_count_++] = {begin, end, static_cast<std::uint16_t>(at),
                                static_cast<std::uint16_t>(texts_size_ - at)};
  }
  void replace(Key key, std::string_view text) {
    const FieldRange range = event_.range(key);
    if (event_.raw.substr(range.begin, range.end - range.begin) != text)
      replace(range.begin, range.end, text);
  }
  // Puts a member right behind the opening brace.
  void insert(Key key, std::string_view text) {
    std::string member = "\"" + std::string(key_name(key)) + "\": " + std::string(text) + ", ";
    replace(1, 1, member);
  }
  void set(Key key, std::string_view text) {
    if (event_.has(key))
      replace(key, text);
    else
      insert(key, text);
  }
  // The key is written plainly, without escapes.
  void rename(Key key, std::string_view name) {
    const std::size_t end = event_.raw.rfind('"', event_.range(key).begin - 1);
    const std::size_t begin = event_.raw.rfind('"', end - 1) + 1;
    replace(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), name);
  }
  void set_time(Key key, std::int64_t ns) {
    char buffer[24];
    set(key, {buffer, static_cast<std::size_t>(write_microseconds(buffer, ns) - buffer)});
  }
  void set_number(Key key, std::uint64_t number) {
    char buffer[24];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
    set(key, {buffer, static_cast<std::size_t>(result.ptr - buffer)});
  }

  void append_to(std::string& out) {
    sort_patches();
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < patch_count_; ++i) {
      const Patch& patch = patches_[i];
      out.append(event_.raw, at, patch.begin - at);
      out.append(texts_.data() + patch.text, patch.text_size);
      at = patch.end;
    }
    out.append(event_.raw, at);
  }
  // Where in the text of append_to() a place of the event is that no patch has covered.
  std::size_t place_of(std::uint32_t place) const {
    std::size_t moved = place;
    for (std::size_t i = 0; i < patch_count_; ++i) {
      const Patch& patch = patches_[i];
      if (patch.end > place) continue;
      moved += patch.text_size;
      moved -= patch.end - patch.begin;
    }
    return moved;
  }

 private:
  struct Patch {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint16_t text;
    std::uint16_t text_size;
  };

  // By place, stable; they are few and mostly in order.
  void sort_patches() {
    for (std::size_t i = 1; i < patch_count_; ++i)
      for (std::size_t j = i; j > 0 && patches_[j].begin < patches_[j - 1].begin; --j)
        std::swap(patches_[j], patches_[j - 1]);
  }
  // ts, dur, pid, tid, id, id2, bind_id and s, each at most 60 bytes with its key.
  void append_text(std::string_view text) {
    assert(texts_size_ + text.size() <= texts_.size());
    std::copy(text.begin(), text.end(), texts_.begin() + static_cast<std::ptrdiff_t>(texts_size_));
    texts_size_ += text.size();
  }

  const Event& event_;
  std::array<Patch, 12> patches_;
  std::size_t patch_count_ = 0;
  std::array<char, 512> texts_;
  std::size_t texts_size_ = 0;
};

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
  Edit edit(clean);
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
  edit_ids(event, edit, state);
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
                             Edit& edit, WriteState& state) const {
  SliceHalf half;
  if (event.phase == 'E') {
    half.text = clean.text(Key::args);
  } else {
    edit_ids(event, edit, state);
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

void EventWriter::edit_ids(const Event& event, Edit& edit, WriteState& state) const {
  const FilePlan& file = plan_.files[file_];
  if (event.has(Key::bind_id))
    edit.set_number(Key::bind_id,
                    file.bind_ids.number(id_key(event.text(Key::bind_id), state.scratch)));
  if (is_flow_phase(event.phase) && event.has(Key::id))
    edit.set_number(Key::id, file.flow_ids.number(id_key(event.text(Key::id), state.scratch)));
  if (!is_async_phase(event.phase)) return;
  const std::string_view key = file.keeps_async_ids ? merged_async_key(event, state.scratch)
                                                    : async_id_key(event, state.scratch);
  if (key.empty()) return;
  const std::string id2 = fmt::format("{{\"local\": \"0x{:x}\"}}", file.async_ids.number(key));
  if (event.has(Key::id2)) {
    edit.replace(Key::id2, id2);
    // Both are an error to catapult; the id that counted is in id2 now.
    if (event.has(Key::id)) edit.rename(Key::id, "source_id");
  } else {
    edit.rename(Key::id, "id2");
    edit.replace(Key::id, id2);
  }
}

}  // namespace traceloom
