// EventEdit, the text of an event with some of its values replaced, and the edits of ids and
// async events.
#pragma once

#include "base/ascii.h"
#include "base/string_table.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/plan/plan.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <forward_list>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

// EventEdit: the text of an event with some of its values replaced.
//
//   EventEdit edit(event);
//   edit.set_time(Key::ts, 12'500);
//   edit.set(Key::pid, "3");
//   edit.append_to(out);

// Holds a handful of replacements and applies them in the order of their places. The event must
// outlive the edit.
class EventEdit {
 public:
  explicit EventEdit(const Event& event) : event_(event) {}

  // Short texts are kept in a buffer of our own: a usual event needs no allocation.
  void replace(std::uint32_t begin, std::uint32_t end, std::string_view text) {
    add_patch({begin, end, static_cast<std::uint32_t>(text.size()), keep(text)});
  }
  void replace(Key key, std::string_view text) {
    const FieldRange range = event_.range(key);
    if (!same_text(event_.raw.substr(range.begin, range.end - range.begin), text))
      replace(range.begin, range.end, text);
  }
  // Inserts a member right after the opening brace.
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
  // Returns the value of the key after all replacements.
  std::string_view text(Key key) const {
    const FieldRange range = event_.range(key);
    for (std::size_t i = 0; i < patch_count_; ++i)
      if (patches_[i].begin == range.begin && patches_[i].end == range.end && range.end != 0)
        return {patches_[i].text, patches_[i].text_size};
    return event_.text(key);
  }
  // Requires that the key is written plainly, without escapes.
  void rename(Key key, std::string_view name) {
    const std::size_t end = event_.raw.rfind('"', event_.range(key).begin - 1);
    const std::size_t begin = event_.raw.rfind('"', end - 1) + 1;
    replace(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), name);
  }
  // Removes the member with one comma. Two members next to each other cannot both be removed.
  void remove(Key key) {
    const std::string_view raw = event_.raw;
    const FieldRange range = event_.range(key);
    const std::size_t name_end = raw.rfind('"', range.begin - 1);
    std::size_t begin = raw.rfind('"', name_end - 1);
    std::size_t end = range.end;
    const std::size_t before = raw.find_last_not_of(" \n\t\r", begin - 1);
    const std::size_t after = raw.find_first_not_of(" \n\t\r", end);
    if (raw[before] == ',')
      begin = before;
    else if (raw[after] == ',')
      end = after + 1;
    replace(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), {});
  }
  void set_time(Key key, std::int64_t ns) {
    constexpr std::size_t kRoom = 24;
    if (texts_size_ + kRoom > texts_.size() || !event_.has(key)) {
      char buffer[kRoom];
      return set(key, {buffer, static_cast<std::size_t>(write_microseconds(buffer, ns) - buffer)});
    }
    // Writes the number where it is kept: copying byte by byte what has just been written stalls.
    char* const kept = texts_.data() + texts_size_;
    const auto size = static_cast<std::size_t>(write_microseconds(kept, ns) - kept);
    const FieldRange range = event_.range(key);
    if (same_text(event_.text(key), {kept, size})) return;
    texts_size_ += size;
    add_patch({range.begin, range.end, static_cast<std::uint32_t>(size), kept});
  }
  void set_number(Key key, std::uint64_t number) {
    char buffer[24];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
    set(key, {buffer, static_cast<std::size_t>(result.ptr - buffer)});
  }

  void append_to(TextBuffer& out) {
    // At most so much; kShort lets the last pieces be copied as short ones, too.
    const std::size_t room = event_.raw.size() + added_ + kShort;
    char* const to = out.room(room);
    out.end_at(write_to(to, to + room));
  }
  void append_to(std::string& out) {
    const std::size_t old_size = out.size();
    out.resize(old_size + size());
    write_to(out.data() + old_size, out.data() + out.size());
  }
  // Returns where a place of the event is in the new text. No patch may cover that place.
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
    std::uint32_t text_size;
    const char* text;
  };

  static constexpr std::ptrdiff_t kShort = 32;

  // Copies texts one after the other. Most are shorter than 32 bytes, and copying 32 bytes takes
  // less time than a call of memcpy; the next text overwrites the surplus.
  struct Copier {
    char* to;
    const char* to_end;

    // Memory up to `from_end` may be read.
    void copy(const char* from, std::size_t size, const char* from_end) {
      if (size <= kShort && from_end - from >= kShort && to_end - to >= kShort)
        std::memcpy(to, from, kShort);
      else
        std::memcpy(to, from, size);
      to += size;
    }
  };

  // Returns the end of the memory that may be read from the text of a patch on.
  const char* end_of_kept(const Patch& patch) const {
    const char* const end = texts_.data() + texts_.size();
    const bool is_kept =
        std::greater_equal<>()(patch.text, texts_.data()) && std::less<>()(patch.text, end);
    return is_kept ? end : patch.text + patch.text_size;
  }

  // Returns the size of the new text, which is where the end of the event comes to stand.
  std::size_t size() const { return place_of(static_cast<std::uint32_t>(event_.raw.size())); }
  // Writes the text, and maybe some bytes more, before `room_end`; size() bytes must be left there.
  // Returns the end of the text.
  char* write_to(char* to, const char* room_end) {
    sort_patches();
    Copier copier{to, room_end};
    const char* const raw = event_.raw.data();
    const char* const raw_end = raw + event_.raw.size();
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < patch_count_; ++i) {
      const Patch& patch = patches_[i];
      copier.copy(raw + at, patch.begin - at, raw_end);
      copier.copy(patch.text, patch.text_size, end_of_kept(patch));
      at = patch.end;
    }
    copier.copy(raw + at, event_.raw.size() - at, raw_end);
    return copier.to;
  }

  void add_patch(const Patch& patch) {
    assert(patch_count_ < patches_.size());
    patches_[patch_count_++] = patch;
    added_ += patch.text_size;
  }
  // Sorts by place and keeps the order of equal ones; patches are few and mostly in order.
  void sort_patches() {
    for (std::size_t i = 1; i < patch_count_; ++i)
      for (std::size_t j = i; j > 0 && patches_[j].begin < patches_[j - 1].begin; --j)
        std::swap(patches_[j], patches_[j - 1]);
  }
  // Returns a copy of the text that lives as long as the edit. Numbers fit the buffer; what comes
  // out of args may not.
  const char* keep(std::string_view text) {
    if (texts_size_ + text.size() > texts_.size()) return long_texts_.emplace_front(text).data();
    char* const kept = texts_.data() + texts_size_;
    std::ranges::copy(text, kept);
    texts_size_ += text.size();
    return kept;
  }

  const Event& event_;
  // Has room for each key that is edited, once for its value and once for its name.
  std::array<Patch, 32> patches_;
  std::size_t patch_count_ = 0;
  std::size_t added_ = 0;  // the size of all new texts
  std::array<char, 512> texts_;
  std::size_t texts_size_ = 0;
  std::forward_list<std::string> long_texts_;
};

// edit_async(), AsyncHalves: change the async events of a merge: events of the old kind (S T p F)
// become nestable ones (b n e), and halves of slices are added where AsyncSlices asks for them.
//
//   edit_async(event, plan.files[file], edit, scratch);
//   AsyncHalves halves(event, clean, *target, plan.files[file], scratch);
//   text += halves.text('e', half, plan.files[file].async_slices, end_ns);

// Edits the id and, if the event is of the old kind, its phase, name and category.
void edit_async(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);

// Makes events that belong to the operation, thread and process of an event which the merge writes.
class AsyncHalves {
 public:
  // `event` is as the survey saw it, `clean` has its text repaired. The event must have an id.
  AsyncHalves(const Event& event, const Event& clean, const TrackTarget& target,
              const FilePlan& file, std::string& scratch);

  // Returns half a slice as an event after ",\n". A member "added": true marks events that the
  // merge adds.
  std::string text(char phase, const AsyncHalf& half, const AsyncSlices& slices,
                   std::int64_t ns) const;
  // Returns the end of a slice that has none; `name` is JSON text.
  std::string unended(std::string_view name, std::int64_t ns) const;

 private:
  std::string text(char phase, std::string_view name, std::string_view category,
                   std::int64_t ns) const;

  std::string category_;  // JSON text; empty if there is none
  std::string id2_;
  std::string thread_;
};

// edit_ids(), edit_flow_id(): change the ids of an event, so that no viewer takes ids of two files
// for one.
//
//   edit_ids(event, plan.files[file], edit, scratch);
//   if (is_flow_phase(event.phase)) edit_flow_id(event, plan.files[file], edit, scratch);

// Gives the flow that an X is bound to (bind_id), async events (b n e S T p F) and objects (N O D,
// contexts, memory dumps, profiles) the numbers of the file's id maps. Async ids are written as
// id2.local, which viewers take for an id of the process, or as id2.global (AsyncScope), and S T p
// F as b n e. `event` is as the survey saw it; the edit may be of its repaired text.
void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);
// Does the same for the id of a flow event (s t f), if it has one. Ids of PlanOptions::shared_flows
// have the same number in all files.
void edit_flow_id(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch);
// Binds the end of an arrow to the slice around it.
void bind_to_slice_around(const Event& end, EventEdit& edit);

}  // namespace traceloom
