// ArgsWalk: the members of an event's args, one after the other, until what is wanted has come.
//
//   for (ArgsWalk args(event.text(Key::args)); args.next();)
//     if (args.key() == "correlation") id = args.integer();
//
// For the hot path, and for any text: args of events that were read with Args::skip need not be
// JSON. What is none ends the walk, or gives members that nobody asks for; nothing outside is read.
#pragma once

#include "base/json_token.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

class ArgsWalk {
 public:
  // Anything but an object has no members.
  explicit ArgsWalk(std::string_view args) : at_(args.data()), end_(args.data() + args.size()) {
    if (args.empty() || args.front() != '{')
      at_ = end_;
    else
      ++at_;
  }

  // Moves to the next member; false when there is none.
  bool next() {
    while (at_ != end_ && *at_ != '"') ++at_;
    if (at_ == end_) return false;
    const char* const begin = at_ + 1;
    skip_string();
    key_ = {begin, static_cast<std::size_t>(at_ - begin)};
    if (!key_.empty() && key_.back() == '"') key_.remove_suffix(1);
    while (at_ != end_ && (*at_ == ':' || *at_ == ' ')) ++at_;
    const char* const value = at_;
    skip_value();
    value_ = {value, static_cast<std::size_t>(at_ - value)};
    return true;
  }

  // As written, without its quotes.
  std::string_view key() const { return key_; }
  // As written, strings with their quotes.
  std::string_view value() const { return value_; }
  // The value if it is a whole number, also in quotes; else `otherwise`.
  std::int64_t integer(std::int64_t otherwise) const {
    std::string_view text = value_;
    if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && stop == text.data() + text.size() ? number : otherwise;
  }

 private:
  // From an opening quote to behind the closing one.
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
    int depth = 0;
    while (at_ != end_) {
      const char c = *at_;
      if (c == '"') {
        skip_string();
        if (depth == 0) return;
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      const bool closes = c == ']' || c == '}';
      if (depth == 0 && (closes || c == ',' || c == ' ' || c == '\n')) return;
      ++at_;
      if (closes && --depth == 0) return;
    }
  }

  const char* at_;
  const char* end_;
  std::string_view key_;
  std::string_view value_;
};

// The member of that key; nothing when there is none.
inline std::optional<std::string_view> find_arg(std::string_view args, std::string_view key) {
  for (ArgsWalk walk(args); walk.next();)
    if (walk.key() == key) return walk.value();
  return std::nullopt;
}

}  // namespace traceloom
