#include "scan/event_scanner.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "scan/event_key.h"

#include <algorithm>
#include <array>
#include <cstring>

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

namespace {

constexpr std::size_t kWindow = std::size_t{64} << 10;
// The first window after a start or a restart; later windows grow to kWindow. Text of many tiny
// lists or broken events would otherwise be indexed a thousand times.
constexpr std::size_t kFirstWindow = std::size_t{4} << 10;
constexpr std::size_t kFewElements = 3;
// Elements longer than this are searched for events that a stray quote hides in them. Searching all
// elements took 15 % more time on a trace of PyTorch.
constexpr std::size_t kLongElement = std::size_t{1} << 10;
constexpr std::size_t kNpos = std::string_view::npos;

char first_character(std::string_view json_string) {
  const std::string_view body = unquoted(json_string);
  if (body.empty() || !is_json_string(json_string)) return 0;
  if (body.front() != '\\') return body.front();
  const std::string text = decode_json_string(body);
  return text.empty() ? '\0' : text.front();
}

}  // namespace

void EventScanner::start(std::string_view text, std::uint64_t offset, Position position,
                         ProblemCounts& problems, Behind behind, Args args) {
  text_ = text;
  offset_ = offset;
  problems_ = &problems;
  window_ = text.data();
  behind_ = behind;
  window_begin_ = window_size_ = position_ = 0;
  next_window_size_ = kFirstWindow;
  walked_ = 0;
  shapes_.set_args(args);
  shapes_.make_room();
  after_comma_ = position == Position::after_comma;
  after_element_ = position != Position::first;
}

Position EventScanner::next_position() const {
  if (after_comma_) return Position::after_comma;
  return after_element_ ? Position::after_event : Position::first;
}

const Event* EventScanner::finish(ScanEnd end, std::size_t position) {
  end_ = end;
  end_position_ = position;
  return nullptr;
}

// Indexes text_[begin, begin + size); returns false if no text is left there.
bool EventScanner::open_window(std::size_t begin, std::size_t size) {
  walked_ = 0;
  window_begin_ = begin;
  window_size_ = std::min(size, text_.size() - begin);
  window_ = text_.data() + begin;
  index_.build({window_, window_size_});
  walk_ = EventWalk(index_, {window_, window_size_});
  return window_size_ > 0;
}

// Opens a new window at `element`, which does not fit the current one; the new window is larger if
// the current one already began there. Returns false if the text itself ends inside the element.
bool EventScanner::grow_window(std::size_t element) {
  if (window_begin_ + window_size_ == text_.size()) return false;
  return open_window(element, element == window_begin_ ? window_size_ * 2 : next_window_size());
}

// Doubles the window size if the last window served more than a few elements, and otherwise starts
// small again.
std::size_t EventScanner::next_window_size() {
  next_window_size_ =
      walked_ > kFewElements ? std::min(next_window_size_ * 2, kWindow) : kFirstWindow;
  return next_window_size_;
}

// Makes sure that the index covers the element at position_.
void EventScanner::enter_window() {
  if (position_ < window_begin_ + window_size_) return;
  open_window(position_, next_window_size());
}

// Reads an event whose shape is known: the usual case.
bool EventScanner::read_known_shape() {
  const char* const element = text_.data() + position_;
  const char* const behind = shapes_.read(element, text_.data() + text_.size(), event_);
  if (behind == nullptr) return false;
  event_.offset = offset_ + position_;
  begin_element(position_);
  position_ += static_cast<std::size_t>(behind - element);
  return true;
}

const Event* EventScanner::next() {
  while (skip_known_gap() || find_element()) {
    if (uses_shapes_ && read_known_shape()) return &event_;
    enter_window();
    const std::size_t element = position_;
    std::size_t end = parse_element(element);
    while (end == kCut && grow_window(element)) end = parse_element(element);
    if (end == kCut) return finish(ScanEnd::cut, element);
    if (failed(end)) {
      if (!resync(element)) return finish(ScanEnd::cut, element);
      continue;
    }
    begin_element(element);
    position_ = window_begin_ + end;
    ++walked_;
    if (text_[element] != '{') {
      problems_->add(Problem::not_an_object, offset_ + element);
    } else if (walk_.is_empty()) {
      problems_->add(Problem::empty_object, offset_ + element);
    } else {
      shapes_.learn(event_);
      return &event_;
    }
  }
  return nullptr;
}

// Moves position_ to the next event if the same comma and white space stand before it as before the
// last one.
bool EventScanner::skip_known_gap() {
  if (!is_between_events() || position_ + sizeof gap_.text > text_.size()) return false;
  std::uint64_t here = 0;
  std::memcpy(&here, text_.data() + position_, sizeof here);
  if (((here ^ gap_.text) & gap_.mask) != 0 || gap_.mask == 0) return false;
  position_ += gap_.size;
  after_comma_ = true;
  return true;
}

// Stores the text in [begin, position_), with the brace after it, for skip_known_gap().
void EventScanner::remember_gap(std::size_t begin) {
  const std::size_t size = position_ - begin;
  const std::string_view gap = text_.substr(begin, size);
  if (size >= sizeof gap_.text || !gap.starts_with(',') || gap.find(',', 1) != kNpos) return;
  char text[sizeof gap_.text] = {};
  char mask[sizeof gap_.text] = {};
  std::copy_n(text_.data() + begin, size + 1, text);
  std::fill_n(mask, size + 1, '\xff');
  std::memcpy(&gap_.text, text, sizeof text);
  std::memcpy(&gap_.mask, mask, sizeof mask);
  gap_.size = size;
}

// Moves position_ to the next element. Returns false, and has called finish(), if there is none.
bool EventScanner::find_element() {
  const bool was_between = is_between_events();
  const std::size_t begin = position_;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ',') {
      count_comma();
    } else if (!is_space(c)) {
      break;
    }
    ++position_;
  }
  if (position_ == text_.size()) return finish(ScanEnd::text, position_) != nullptr;
  if (text_[position_] == ']') {
    // The problem is counted at the bracket, because the comma may stand in an earlier piece of
    // text.
    if (after_comma_) problems_->add(Problem::trailing_comma, offset_ + position_);
    return finish(ScanEnd::array, position_ + 1) != nullptr;
  }
  if (was_between && text_[position_] == '{') remember_gap(begin);
  return true;
}

// One comma belongs between two elements; this function counts surplus ones as a problem.
void EventScanner::count_comma() {
  if (after_comma_ || !after_element_)
    problems_->add(Problem::extra_comma, offset_ + position_);
  else
    after_comma_ = true;
}

void EventScanner::begin_element(std::size_t element) {
  if (after_element_ && !after_comma_) problems_->add(Problem::missing_comma, offset_ + element);
  after_comma_ = false;
  after_element_ = true;
}

std::size_t EventScanner::parse_element(std::size_t begin) {
  const std::size_t at = begin - window_begin_;
  const std::size_t end = walk_element(at);
  if (end == kMalformed) return end;
  // The result must not depend on where a window happens to end.
  const bool is_last = end == kCut && window_begin_ + window_size_ == text_.size();
  const bool is_checked = is_last || std::min(end, window_size_) - at > kLongElement;
  return is_checked && hides_event(at, std::min(end, window_size_)) ? kMalformed : end;
}

std::size_t EventScanner::walk_element(std::size_t at) {
  if (window_[at] == '{') return parse_event(at);
  if (window_[at] == '"') return walk_.skip_string(at);
  if (window_[at] == '[') return walk_.skip_list(at);
  // An element of another kind ends where the next element may begin. If it holds a quote or
  // backslash, the index is wrong.
  std::size_t end = at;
  while (end < window_size_ && window_[end] != ',' && window_[end] != ']' && window_[end] != '{') {
    if (window_[end] == '"' || window_[end] == '\\') return kMalformed;
    ++end;
  }
  return end < window_size_ ? end : kCut;
}

// True if an event starts inside text that the index treats as a string. Then the element lacks a
// quote or has one too many, so that the "string" reaches up to the next such quote.
bool EventScanner::hides_event(std::size_t begin, std::size_t end) const {
  const std::string_view text(window_, end);
  for (std::size_t start = find_event_start(text, begin + 1); start != kNpos;
       start = find_event_start(text, start + 1))
    if (index_.next_brace(start) != start) return true;
  return false;
}

std::size_t EventScanner::parse_event(std::size_t begin) {
  const std::size_t end = walk_.walk(begin, event_);
  if (failed(end)) return end;
  event_.raw = {window_ + begin, end - begin};
  event_.offset = offset_ + window_begin_ + begin;
  event_.flags.suspect_text = index_.is_suspect(begin, end);
  event_.phase = event_.has(Key::ph) ? first_character(event_.text(Key::ph)) : '\0';
  return end;
}

// Recovers after text that is not JSON: scanning continues at the next place that looks like an
// event, else at the bracket that closes the list, else at the end of the text. Returns false if
// the decision depends on the text that follows.
bool EventScanner::resync(std::size_t element) {
  std::size_t next = find_event_start(text_, element + 1);
  if (next == kNpos && behind_ == Behind::more_text) return false;
  begin_element(element);
  problems_->add(Problem::malformed_event, offset_ + element);
  after_comma_ = next != kNpos;
  position_ = next != kNpos ? next : find_list_end(element);
  window_size_ = 0;  // the index is wrong from here on: find_element() opens a new window
  next_window_size_ = kFirstWindow;
  window_begin_ = position_;
  return true;
}

// Returns the last bracket after a brace, or the end of the text.
std::size_t EventScanner::find_list_end(std::size_t element) const {
  for (std::size_t bracket = text_.rfind(']'); bracket != kNpos && bracket > element;
       bracket = text_.rfind(']', bracket - 1)) {
    const std::size_t before = text_.find_last_not_of(" \n\t\r", bracket - 1);
    if (before != kNpos && before > element && text_[before] == '}') return bracket;
  }
  return text_.size();
}

namespace {

// Guesses where an event starts without knowing the text before it.
//
// In JSON an unescaped quote that a letter follows can only open a string, so a match of
// `} , { "key"` is certain to be outside strings; only its depth is a guess (an array of objects in
// args looks the same), and the key list makes that guess good.

bool starts_with_event_key(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kKeys{"ph\"",  "name\"", "cat\"",  "pid\"",
                                                          "tid\"", "ts\"",   "args\"", "id\"",
                                                          "dur\"", "s\"",    "tts\""};
  for (const std::string_view key : kKeys)
    if (text.starts_with(key)) return true;
  return false;
}

// True if text[brace] == '{' and a key of an event follows it.
bool opens_event(std::string_view text, std::size_t brace) {
  std::size_t p = brace + 1;
  while (p < text.size() && is_space(text[p])) ++p;
  return p < text.size() && text[p] == '"' && starts_with_event_key(text.substr(p + 1));
}

// True if "}" and "," stand before text[brace], with any white space.
bool follows_event(std::string_view text, std::size_t brace, std::size_t from) {
  std::size_t p = brace;
  while (p > from && is_space(text[p - 1])) --p;
  if (p == from || text[p - 1] != ',') return false;
  --p;
  while (p > from && is_space(text[p - 1])) --p;
  return p > from && text[p - 1] == '}';
}

}  // namespace

std::size_t find_event_start(std::string_view text, std::size_t from) {
  if (from < text.size() && text[from] == '{' && opens_event(text, from)) return from;
  for (std::size_t brace = text.find('{', from); brace != std::string_view::npos;
       brace = text.find('{', brace + 1))
    if (follows_event(text, brace, from) && opens_event(text, brace)) return brace;
  return std::string_view::npos;
}

std::size_t find_last_event_start(std::string_view text, std::size_t from) {
  std::size_t end = text.size();
  while (end > from) {
    const void* found = memrchr(text.data() + from, '{', end - from);
    if (found == nullptr) return std::string_view::npos;
    const std::size_t brace =
        static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    if (follows_event(text, brace, from) && opens_event(text, brace)) return brace;
    end = brace;
  }
  return std::string_view::npos;
}

}  // namespace traceloom
