// Walks strict JSON in place: the members of an object, the elements of a list.
//
//   for_each_member(args, [&](std::string_view key, std::string_view value) {
//     if (key == "snapshot") use(value);
//   });
//
// Who wants one member of many skips to it, which is faster than walking over the others:
//
//   for (JsonWalk walk(args); walk.next("Input Dims");) use(walk.value());
//
// The walk copies nothing. The text should be is_strict_json(): the walk does not notice where it
// is not and may then return any part of the text as a member, but it never reads outside the text.
// The code stands in the header because it is the hot path of statistics: out of line, memory and
// operators took 8 and 5 % longer.
#pragma once

#include "base/json_token.h"

#include <cstddef>
#include <string_view>

namespace traceloom {

inline bool is_json_object(std::string_view value) {
  return !value.empty() && value.front() == '{';
}
inline bool is_json_list(std::string_view value) {
  return !value.empty() && value.front() == '[';
}
// In strict JSON only numbers begin with these characters.
inline bool is_json_number(std::string_view value) {
  return !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

// Walks over the members between two brackets, one step at a time.
class JsonWalk {
 public:
  // `container` is an object or a list; anything else has no members.
  explicit JsonWalk(std::string_view container)
      : at_(container.data()),
        end_(container.data() + container.size()),
        has_keys_(is_json_object(container)) {
    if (has_keys_ || is_json_list(container))
      ++at_;
    else
      at_ = end_;
  }

  // Moves to the next member or element; false when there is none.
  bool next() {
    if (has_keys_) {
      // Skip everything before the key: some producers write comments there, or a comma too many.
      while (at_ != end_ && *at_ != '"') ++at_;
      if (at_ == end_) return false;
      read_key();
    } else {
      skip_space();
      if (at_ != end_ && *at_ == ',') {
        ++at_;
        skip_space();
      }
      if (at_ == end_ || *at_ == '}' || *at_ == ']') return false;
    }
    const char* const value = at_;
    skip_value();
    value_ = {value, static_cast<std::size_t>(at_ - value)};
    return true;
  }
  // Moves to the next member whose key is written so; false when there is none.
  bool next(std::string_view key);
  // The text between the quotes of the key, as written; empty in a list.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skip_space() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  void read_key() {
    const char* const key = at_ + 1;
    skip_string();
    key_ = {key, static_cast<std::size_t>(at_ - key)};
    if (!key_.empty()) key_.remove_suffix(1);
    skip_space();
    if (at_ != end_) ++at_;  // the colon
    skip_space();
  }
  // Moves from an opening quote to the position after the closing one.
  void skip_string() {
    ++at_;
    while (at_ != end_) {
      at_ = skip_plain_characters(at_, end_);
      if (at_ == end_) return;
      const char c = *at_++;
      if (c == '"') return;
      if (c == '\\' && at_ != end_) ++at_;
    }
  }
  void skip_value() {
    if (at_ != end_ && *at_ == '[') {
      if (const char* const behind = skip_list_of_numbers(at_, end_); behind != nullptr) {
        at_ = behind;
        return;
      }
    }
    at_ = skip_digits(at_, end_);
    std::size_t depth = 0;
    while (at_ != end_) {
      const char c = *at_;
      if (c == '"') {
        skip_string();
        if (depth == 0) return;
        continue;
      }
      const bool closes = c == '}' || c == ']';
      // A number or word ends here.
      if (depth == 0 && (closes || c == ',' || is_space(c))) return;
      if (c == '{' || c == '[') ++depth;
      ++at_;
      if (closes && --depth == 0) return;
    }
  }

  const char* at_;
  const char* end_;
  bool has_keys_;
  std::string_view key_;
  std::string_view value_;
};

template <typename Visit>
void for_each_member(std::string_view object, Visit visit) {
  if (!is_json_object(object)) return;
  for (JsonWalk walk(object); walk.next();) visit(walk.key(), walk.value());
}

template <typename Visit>
void for_each_element(std::string_view list, Visit visit) {
  if (!is_json_list(list)) return;
  for (JsonWalk walk(list); walk.next();) visit(walk.value());
}

// True if two members of an object have the same key, however it is written ("a" and "\u0061").
// Only this object's own keys are compared, not those of nested values. False if `object` is no
// object.
bool repeats_key(std::string_view object);

// True if a key that is written so (the text between its quotes) means `key`.
bool is_json_key(std::string_view written, std::string_view key);

// Returns the value of the last member with that key, however the key is written. Empty if there is
// none or if the value is no object.
std::string_view find_member(std::string_view object, std::string_view key);

}  // namespace traceloom
