#include "scan/event_walk.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "scan/event_key.h"

namespace traceloom {
namespace {

bool is_scalar(char first) {
  return first != '"' && first != '{' && first != '[';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

// Returns the first position >= at that is no white space, at the latest that of the '\0' after the
// text.
std::size_t skip_space(const char* text, std::size_t at) {
  while (is_space(text[at])) ++at;
  return at;
}

}  // namespace

std::size_t EventWalk::walk(std::size_t begin, Event& event, std::vector<Member>* members) {
  event.present = 0;
  event.flags = {};
  TextIndex::Tokens tokens(*index_, begin + 1);
  std::size_t token = tokens.next();
  is_empty_ = token < size_ && text_[token] == '}';
  std::size_t value_end = begin + 1;
  if (token < size_ && text_[token] == '"' && !check_gap(value_end, token, false))
    return kMalformed;
  while (token < size_ && text_[token] == '"') {
    Member member{token + 1, tokens.next(), 0, 0};
    if (member.key_end >= size_) return kCut;
    const std::size_t value = find_value(member.key_end);
    if (failed(value)) return value;
    member.value_begin = value;
    const char first = text_[value];
    if (first == '"') {
      if (tokens.next() != value) return kMalformed;
      value_end = tokens.next() + 1;
      if (value_end > size_) return kCut;
      token = tokens.next();
    } else if (is_scalar(first)) {
      if (is_control(first)) return kMalformed;  // a crash left zero bytes in the file
      token = tokens.next();
      value_end = scalar_end(value, token);
      if (failed(value_end)) return value_end;
    } else {
      value_end = first == '{' ? skip_object(value) : skip_list(value);
      if (failed(value_end)) return value_end;
      tokens.seek(value_end);
      token = tokens.next();
    }
    member.value_end = value_end;
    set_field(member, begin, event);
    if (members != nullptr) members->push_back(member);
    if (token < size_ && text_[token] == '"' && !check_gap(value_end, token, true))
      return kMalformed;
  }
  return close(value_end, token, event);
}

// Checks the text from the end of the last member to the brace: white space, or a comma that JSON
// does not allow there.
std::size_t EventWalk::close(std::size_t at, std::size_t token, Event& event) const {
  if (token >= size_) return kCut;
  if (text_[token] != '}') return kMalformed;
  at = skip_space(text_, at);
  if (at == token) return token + 1;
  if (is_empty_ || text_[at] != ',' || skip_space(text_, at + 1) != token) return kMalformed;
  event.flags.loose_syntax = true;
  return token + 1;
}

// Accepts one comma (none before the first member) and any white space.
inline bool EventWalk::check_gap(std::size_t at, std::size_t token, bool wants_comma) const {
  at = skip_space(text_, at);
  if (wants_comma) {
    if (text_[at] != ',') return false;
    at = skip_space(text_, at + 1);
  }
  return at == token;
}

// Returns the position of the first character of the value after a key's closing quote.
inline std::size_t EventWalk::find_value(std::size_t key_end) const {
  const char* const text = text_ + key_end + 1;
  std::size_t at = key_end + 3;
  if (text[0] != ':' || text[1] != ' ' || is_space(text[2])) {
    at = skip_space(text_, key_end + 1);
    if (at < size_ && text_[at] != ':') return kMalformed;
    if (at < size_) at = skip_space(text_, at + 1);
  }
  return at < size_ ? at : kCut;
}

// Returns the end of a number or literal: the comma before the next token, or the white space
// before that comma. The code that reads or copies the value checks it.
inline std::size_t EventWalk::scalar_end(std::size_t at, std::size_t token) const {
  if (token >= size_) return kCut;
  std::size_t end = token;
  while (end > at && is_space(text_[end - 1])) --end;
  if (end > at && text_[end - 1] == ',') --end;
  while (end > at && is_space(text_[end - 1])) --end;
  return end > at && text_[at] != ',' ? end : kMalformed;
}

std::size_t EventWalk::skip_string(std::size_t at) const {
  TextIndex::Tokens tokens(*index_, at + 1);
  const std::size_t end = tokens.next();
  return end < size_ ? end + 1 : kCut;
}

std::size_t EventWalk::skip_object(std::size_t at) const {
  std::size_t depth = 1;
  while (depth > 0) {
    at = index_->next_brace(at + 1);
    if (at >= size_) return kCut;
    depth = text_[at] == '{' ? depth + 1 : depth - 1;
  }
  return at + 1;
}

// Brackets have no bitmap, because lists are rare as direct values of an event. A backslash outside
// strings is never JSON, and a quote after it would be missing from the index.
std::size_t EventWalk::skip_list(std::size_t at) const {
  std::size_t depth = 0;
  while (at < size_) {
    const char c = text_[at];
    if (c == '\\') return kMalformed;
    if (c == '"') {
      at = skip_string(at);
      if (failed(at)) return at;
      continue;
    }
    ++at;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return at;
  }
  return kCut;
}

inline void EventWalk::set_field(const Member& member, std::size_t begin, Event& event) const {
  const std::size_t key_size = member.key_end - member.key_begin;
  const char* const key_text = text_ + member.key_begin;
  if (key_size > 8) return set_other(member, begin, event);
  const Key key =
      kEventKeys.find(member.key_begin + 8 <= size_ ? EventKeyTable::load(key_text, key_size)
                                                    : EventKeyTable::pack({key_text, key_size}),
                      key_size);
  if (key == Key::count_) return set_other(member, begin, event);
  event.set(key, member.value_begin - begin, member.value_end - begin);
}

// Handles a key outside enum Key. A key that is written with escapes ("\u0070h") may belong to the
// enum after all.
void EventWalk::set_other(const Member& member, std::size_t begin, Event& event) const {
  const std::string_view value(text_ + member.value_begin, member.value_end - member.value_begin);
  event.flags.loose_syntax |= is_scalar(value.front()) && !is_strict_json(value);
  event.flags.nested_value |= value.front() == '{' || value.front() == '[';
  const std::string_view key_text(text_ + member.key_begin, member.key_end - member.key_begin);
  if (key_text.find('\\') == std::string_view::npos) return;
  const Key key = kEventKeys.find(decode_json_string(key_text));
  if (key == Key::count_) return;
  event.flags.escaped_key = true;
  event.set(key, member.value_begin - begin, member.value_end - begin);
}

std::vector<EventMember> members_of_event(std::string_view event) {
  TextIndex index;
  index.build(event);
  std::vector<EventWalk::Member> places;
  Event ignored;
  EventWalk(index, event).walk(0, ignored, &places);
  std::vector<EventMember> members;
  for (const EventWalk::Member& place : places)
    members.push_back({event.substr(place.key_begin, place.key_end - place.key_begin),
                       event.substr(place.value_begin, place.value_end - place.value_begin)});
  return members;
}

}  // namespace traceloom
