// EventEdit: the text of an event with some of its values replaced.
//
//   EventEdit edit(event);
//   edit.set_time(Key::ts, 12'500);
//   edit.set(Key::pid, "3");
//   edit.append_to(out);
#pragma once

#include "event/event.h"
#include "event/trace_time.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

// A handful of replacements, applied in the order of their places. The event must live as long.
class EventEdit {
 public:
  explicit EventEdit(const Event& event) : event_(event) {}

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

}  // namespace traceloom
