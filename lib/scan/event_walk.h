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
#include <string_view>
#include <vector>

namespace traceloom {

// Results that are no position in the window.
inline constexpr std::size_t kCut = static_cast<std::size_t>(-1);  // the window ended first
inline constexpr std::size_t kMalformed = kCut - 1;

inline bool failed(std::size_t at) {
  return at >= kMalformed;
}

// Reads a window of text; more text or a '\0' must follow the window.
class EventWalk {
 public:
  // The places of a member's key, between its quotes, and of its value.
  struct Member {
    std::size_t key_begin;
    std::size_t key_end;
    std::size_t value_begin;
    std::size_t value_end;
  };

  EventWalk() = default;
  // `index` must belong to `window`; both must outlive the walk.
  EventWalk(const TextIndex& index, std::string_view window)
      : index_(&index), text_(window.data()), size_(window.size()) {}

  // Reads the event whose '{' stands at `begin`: fills fields, present and flags (except
  // suspect_text) of `event`, and adds all of its members to `members` if that is not null. Returns
  // the position after its '}', kCut or kMalformed.
  std::size_t walk(std::size_t begin, Event& event, std::vector<Member>* members = nullptr);
  // True if the event read last had no member at all.
  bool is_empty() const { return is_empty_; }

  // Return the position after the string or list that starts at `at`.
  std::size_t skip_string(std::size_t at) const;
  std::size_t skip_list(std::size_t at) const;

 private:
  bool check_gap(std::size_t at, std::size_t token, bool wants_comma) const;
  std::size_t find_value(std::size_t key_end) const;
  std::size_t scalar_end(std::size_t at, std::size_t token) const;
  std::size_t skip_object(std::size_t at) const;
  std::size_t close(std::size_t at, std::size_t token, Event& event) const;
  void set_field(const Member& member, std::size_t begin, Event& event) const;
  void set_other(const Member& member, std::size_t begin, Event& event) const;

  const TextIndex* index_ = nullptr;
  const char* text_ = nullptr;
  std::size_t size_ = 0;
  bool is_empty_ = false;
};

// Returns the members of an event that EventScanner has read, in their order, also those that
// stand twice.
struct EventMember {
  std::string_view key;  // the text between the quotes, as written
  std::string_view value;
};
std::vector<EventMember> members_of_event(std::string_view event);

}  // namespace traceloom
