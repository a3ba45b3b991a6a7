// EventWalk: reads the members of one event, from its opening brace to its closing one.
//
// It is the inner loop of everything: it goes from token to token (quotes and braces) and only
// checks that the text between two tokens is valid there. It does not read numbers. All changing
// state is in local variables: with members the compiler has to store and load them around every
// write to the event, which made the walk 2.5 times slower.
#pragma once

#include "event/event.h"
#include "scan/text_index.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {

// Results that are no position in the window.
inline constexpr std::size_t kCut = static_cast<std::size_t>(-1);  // the window ended first
inline constexpr std::size_t kMalformed = kCut - 1;

inline bool failed(std::size_t at) {
  return at >= kMalformed;
}

// Reads a window of text; more text or a '\0' must follow the window. Keep the EventWalk for the
// whole window: it remembers the white space that the producer writes between members.
class EventWalk {
 public:
  EventWalk() = default;
  // `index` must belong to `window`; both must outlive the walk.
  EventWalk(const TextIndex& index, std::string_view window)
      : index_(&index), text_(window.data()), size_(window.size()) {}

  // Reads the event whose '{' stands at `begin`: fills fields, present and flags (except
  // suspect_text) of `event`. Returns the position after its '}', kCut or kMalformed.
  std::size_t walk(std::size_t begin, Event& event);
  // True if the event read last had no member at all.
  bool is_empty() const { return is_empty_; }

  // Return the position after the string or list that starts at `at`.
  std::size_t skip_string(std::size_t at) const;
  std::size_t skip_list(std::size_t at) const;

 private:
  struct Member;

  bool is_known_gap(std::size_t at, std::size_t token) const;
  bool check_gap(std::size_t at, std::size_t token, bool wants_comma);
  std::size_t find_value(std::size_t key_end) const;
  std::size_t scalar_end(std::size_t at, std::size_t token);
  std::size_t skip_object(std::size_t at) const;
  std::size_t close(std::size_t at, std::size_t token, Event& event) const;
  void set_field(const Member& member, std::size_t begin, Event& event) const;
  void set_other(const Member& member, std::size_t begin, Event& event) const;

  const TextIndex* index_ = nullptr;
  const char* text_ = nullptr;
  std::size_t size_ = 0;
  // The last comma and white space between two members, if they are at most eight bytes. They lie
  // in the highest bytes of the word.
  std::uint64_t gap_bytes_ = 0;
  std::size_t gap_size_ = 0;
  bool is_empty_ = false;
};

}  // namespace traceloom
