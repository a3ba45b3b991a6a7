// EventWalk: the members of one event, from its opening brace to its closing one.
//
// The inner loop of everything: it goes from token to token (quotes and braces) and looks at the
// text between two of them only to check that it is what JSON wants there. Numbers are not read
// here. All that changes lives in local variables: with members the compiler has to store and load
// them around every write to the event, which made the walk 2.5 times slower.
#pragma once

#include "base/ascii.h"
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

// Reads a window of text that is followed by more text or a '\0'. Keep it for the whole window: it
// remembers the white space that the producer puts between members.
class EventWalk {
 public:
  EventWalk() = default;
  // `index` is of `window`; both must outlive the walk.
  EventWalk(const TextIndex& index, std::string_view window)
      : index_(&index), text_(window.data()), size_(window.size()) {}

  // The event whose '{' stands at `begin`: fills fields, present and flags (but for suspect_text)
  // of `event`. Returns the position behind its '}', kCut or kMalformed.
  std::size_t walk(std::size_t begin, Event& event);
  // Of the event walked last: it had no member at all.
  bool is_empty() const { return is_empty_; }

  // Behind the string or list that starts at `at`.
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
  // The comma and white space that stood between two members last, if at most eight bytes: its
  // bytes, as they lie in the highest bytes of a word.
  std::uint64_t gap_bytes_ = 0;
  std::size_t gap_size_ = 0;
  bool is_empty_ = false;
};

}  // namespace traceloom
